//! How processes find each other: who listens, who connects, and what both have to show.
//!
//! Process p connects to all before it and is connected to by all behind it. Both ends of a connection prove that they
//! know the token, by a keyed hash of two random numbers and of what they say; only then is read what the other says. A
//! stranger is refused, and nothing else comes of it. Then both compare what they are about to do: program, options,
//! texts of the model. Processes that differ do not search together.
//!
//! What is said is authenticated when connections are made, and not later, and nothing is encrypted: use a network of
//! your own.

use super::link::Net;
use crate::explore::others::Process;
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

const MAGIC: &[u8; 8] = b"KANONNET";
/// The version of what processes say to each other.
const VERSION: u32 = 1;
/// What a process says of itself has at most so many bytes.
const MOST: usize = 1 << 20;
/// Whoever connects shows the token within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many may be showing it at the same time.
const GUESTS: usize = 64;

/// What all processes of a search know, and nobody else.
#[derive(Clone)]
pub struct Token([u8; 32]);

/// Secrets are not shown.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Made of a secret.
    pub fn of(secret: &[u8]) -> Token {
        Token(blake3::derive_key("kanon: processes of one search", secret))
    }

    /// A secret that nobody can guess.
    pub fn random() -> String {
        blake3::Hash::from_bytes(random()).to_hex().to_string()
    }

    fn mac(&self, role: &[u8], first: &[u8; 32], second: &[u8; 32], body: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in [role, first, second, body] {
            hasher.update(part);
        }
        hasher.finalize()
    }
}

/// Numbers that nobody can guess: the standard library seeds each of its hashers with the system's.
fn random() -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for _ in 0..8 {
        let mut sip = std::collections::hash_map::RandomState::new().build_hasher();
        sip.write_u128(Instant::now().elapsed().as_nanos());
        hasher.update(&sip.finish().to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// How a process meets the others.
pub struct Meeting<'a> {
    pub me: Process,
    pub processes: usize,
    pub token: &'a Token,
    /// Where this process listens.
    pub listener: TcpListener,
    /// Where the others can reach it.
    pub address: String,
    /// Where process 0 listens.
    pub first: String,
    /// What all have to have in common, by name.
    pub about: &'a Value,
    /// How long the others may take to come.
    pub patience: Duration,
    /// How long nothing may be heard of one.
    pub silence: Duration,
    /// Why nobody need be waited for, if so.
    pub is_off: &'a dyn Fn() -> Option<String>,
}

/// Meets the others.
///
/// # Errors
/// Who did not come, or what differs, for people.
pub fn meet(meeting: &Meeting) -> Result<Net, String> {
    let Meeting { me, processes, .. } = meeting;
    let begun = Instant::now();
    let mut streams: Vec<Option<TcpStream>> = (0..*processes).map(|_| None).collect();
    let mut addresses = vec![String::new(); *processes];
    let listener = meeting.listener.try_clone().map_err(|e| e.to_string())?;
    listener.set_nonblocking(true).map_err(|e| format!("cannot listen: {e}"))?;
    let hello = json!({"process": me, "address": meeting.address, "about": meeting.about});
    if *me > 0 {
        let mut stream = call(meeting, &meeting.first, begun, &hello, 0)?;
        // The first one tells where the others are, when all have come, or why they have not.
        let said = read_body(&mut stream, meeting.patience.saturating_sub(begun.elapsed()) + PATIENCE)
            .map_err(|e| format!("process 0 did not say where the others are: {e}"))?;
        let said = body(&said)?;
        let roster = said["roster"].as_array().ok_or("process 0 did not say where the others are")?;
        for (address, said) in addresses.iter_mut().zip(roster) {
            *address = said.as_str().unwrap_or_default().to_string();
        }
        streams[0] = Some(stream);
        for other in 1..*me {
            let address = &addresses[usize::from(other)];
            streams[usize::from(other)] = Some(call(meeting, address, begun, &hello, other)?);
        }
    }
    let mut refused = 0;
    let expected = usize::from(*me) + 1..*processes;
    let (sender, receiver) = channel::<Result<Guest, Refused>>();
    let mut guests = 0;
    while let Some(missing) = expected.clone().find(|i| streams[*i].is_none()) {
        if let Some(why) = (meeting.is_off)() {
            return Err(told(&mut streams, why));
        }
        if begun.elapsed() > meeting.patience {
            let strangers = match refused {
                0 => String::new(),
                n => format!(" ({n} connections were refused: they do not know the token)"),
            };
            let why = format!("process {missing} did not come within {:?}{strangers}", meeting.patience);
            return Err(told(&mut streams, why));
        }
        while guests < GUESTS
            && let Ok((stream, _)) = listener.accept()
        {
            guests += 1;
            let (sender, token, hello) = (sender.clone(), meeting.token.clone(), hello.clone());
            std::thread::spawn(move || welcome(stream, &token, &hello, &sender));
        }
        let guest = match receiver.recv_timeout(Duration::from_millis(10)) {
            Ok(guest) => guest,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => continue,
        };
        guests -= 1;
        match guest {
            Err(Refused::Stranger) => refused += 1,
            Err(Refused::Differs(why)) => return Err(told(&mut streams, why)),
            Ok(Guest { process, address, stream }) => match streams.get_mut(process) {
                Some(place @ None) if expected.contains(&process) => {
                    (*place, addresses[process]) = (Some(stream), address);
                }
                _ => return Err(told(&mut streams, format!("there are two processes {process}"))),
            },
        }
    }
    if *me == 0 {
        addresses[0] = meeting.address.clone();
        let roster = json!({"roster": addresses}).to_string();
        for (process, stream) in streams.iter_mut().enumerate() {
            if let Some(stream) = stream {
                write_body(stream, roster.as_bytes())
                    .map_err(|e| format!("process {process} has gone: {e}"))?;
            }
        }
    }
    Net::new(*me, streams, meeting.silence).map_err(|e| format!("cannot talk to the other processes: {e}"))
}

/// Those who have come hear why it was in vain.
fn told(streams: &mut [Option<TcpStream>], why: String) -> String {
    for stream in streams.iter_mut().flatten() {
        let _ = write_body(stream, json!({"refused": why}).to_string().as_bytes());
    }
    why
}

fn body(bytes: &[u8]) -> Result<Value, String> {
    let said: Value = serde_json::from_slice(bytes).map_err(|e| format!("what it says is no JSON: {e}"))?;
    match said["refused"].as_str() {
        Some(why) => Err(why.to_string()),
        None => Ok(said),
    }
}

/// Connects to a process before this one, again and again until it is there.
fn call(
    meeting: &Meeting,
    address: &str,
    begun: Instant,
    hello: &Value,
    other: Process,
) -> Result<TcpStream, String> {
    loop {
        if let Some(why) = (meeting.is_off)() {
            return Err(why);
        }
        let left = meeting.patience.saturating_sub(begun.elapsed());
        let failed = match connect(address, left.clamp(Duration::from_millis(1), PATIENCE)) {
            Ok(stream) => return shake(meeting, stream, hello, other),
            Err(e) => e,
        };
        if left.is_zero() {
            return Err(format!("process {other} does not answer at {address}: {failed}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn connect(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "it is no address");
    for place in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, patience) {
            Ok(stream) => return Ok(stream),
            Err(e) => failed = e,
        }
    }
    Err(failed)
}

/// Shows the token to a process before this one, and sees that it knows it, too.
fn shake(
    meeting: &Meeting,
    mut stream: TcpStream,
    hello: &Value,
    other: Process,
) -> Result<TcpStream, String> {
    let gone = |e: io::Error| {
        format!(
            "process {other} has ended the conversation ({e}): has it the same token and the same version?"
        )
    };
    let (mine, theirs) = greet(&mut stream).map_err(gone)?;
    let said = hello.to_string();
    let mac = meeting.token.mac(b"caller", &mine, &theirs, said.as_bytes());
    stream.write_all(mac.as_bytes()).map_err(gone)?;
    write_body(&mut stream, said.as_bytes()).map_err(gone)?;
    let mut mac = [0; 32];
    stream.read_exact(&mut mac).map_err(gone)?;
    let said = read_body(&mut stream, PATIENCE).map_err(gone)?;
    if meeting.token.mac(b"listener", &theirs, &mine, &said) != blake3::Hash::from_bytes(mac) {
        return Err(format!("process {other} has another token"));
    }
    let said = body(&said)?;
    match difference(hello, &said) {
        Some(why) => Err(why),
        None => Ok(stream),
    }
}

/// Magic, version and a random number, both ways.
fn greet(stream: &mut TcpStream) -> io::Result<([u8; 32], [u8; 32])> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mine = random();
    let mut first = [0; 44];
    first[..8].copy_from_slice(MAGIC);
    first[8..12].copy_from_slice(&VERSION.to_le_bytes());
    first[12..].copy_from_slice(&mine);
    stream.write_all(&first)?;
    let mut theirs = [0; 44];
    stream.read_exact(&mut theirs)?;
    if first[..12] != theirs[..12] {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it speaks another language"));
    }
    let mut number = [0; 32];
    number.copy_from_slice(&theirs[12..]);
    Ok((mine, number))
}

/// A process that knows the token, and does the same.
struct Guest {
    process: usize,
    address: String,
    stream: TcpStream,
}

/// Whoever connects and is no guest.
enum Refused {
    /// It does not know the token, or does not speak at all.
    Stranger,
    /// It knows the token and differs.
    Differs(String),
}

/// Somebody has connected.
fn welcome(mut stream: TcpStream, token: &Token, hello: &Value, to: &Sender<Result<Guest, Refused>>) {
    let guest = (|| {
        let stranger = |_: io::Error| Refused::Stranger;
        let (mine, theirs) = greet(&mut stream).map_err(stranger)?;
        let mut mac = [0; 32];
        stream.read_exact(&mut mac).map_err(stranger)?;
        let said = read_body(&mut stream, PATIENCE).map_err(stranger)?;
        if token.mac(b"caller", &theirs, &mine, &said) != blake3::Hash::from_bytes(mac) {
            return Err(Refused::Stranger);
        }
        let said = body(&said).map_err(Refused::Differs)?;
        let why = difference(&said, hello);
        let answer = match &why {
            Some(why) => json!({"refused": why}),
            None => hello.clone(),
        };
        let answer = answer.to_string();
        let mac = token.mac(b"listener", &mine, &theirs, answer.as_bytes());
        let answered =
            stream.write_all(mac.as_bytes()).and_then(|()| write_body(&mut stream, answer.as_bytes()));
        if let Some(why) = why {
            return Err(Refused::Differs(why));
        }
        answered.map_err(stranger)?;
        let process = said["process"].as_u64().and_then(|n| usize::try_from(n).ok());
        let address = said["address"].as_str().unwrap_or_default().to_string();
        let process = process.ok_or_else(|| Refused::Differs("a process does not say which it is".into()))?;
        Ok(Guest { process, address, stream })
    })();
    // Nobody waits for it any more.
    let _ = to.send(guest);
}

/// What two processes do not have in common: the caller, and the one that listens.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let at = |hello: &Value| hello["process"].to_string();
    let (one_about, other_about) = (&one["about"], &other["about"]);
    let names = one_about.as_object().into_iter().chain(other_about.as_object()).flat_map(|o| o.keys());
    let mut different: Vec<&str> =
        names.filter(|n| one_about.get(*n) != other_about.get(*n)).map(String::as_str).collect();
    different.sort_unstable();
    different.dedup();
    if one_about.is_object() && other_about.is_object() && different.is_empty() {
        return None;
    }
    Some(format!(
        "processes {} and {} do not do the same; they differ in: {}",
        at(one),
        at(other),
        different.join(", ")
    ))
}

fn write_body(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(&(bytes.len() as u32).to_le_bytes())?;
    stream.write_all(bytes)
}

/// What is said, which has to come as a whole in this time.
fn read_body(stream: &mut TcpStream, patience: Duration) -> io::Result<Vec<u8>> {
    let begun = Instant::now();
    let mut length = [0; 4];
    let mut bytes = vec![];
    let mut at = 0;
    loop {
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let is_head = at < 4;
        let into = if is_head { &mut length[at..] } else { &mut bytes[at - 4..] };
        let read = stream.read(into)?;
        at += read;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if is_head && at == 4 {
            let n = u32::from_le_bytes(length) as usize;
            if n > MOST {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it says too much"));
            }
            bytes = vec![0; n];
        }
        if at >= 4 && at - 4 == bytes.len() {
            return Ok(bytes);
        }
    }
}

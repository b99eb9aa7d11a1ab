//! Connections between processes: frames over TCP, heartbeats, and streams as timely wants them.
//!
//! Each pair of processes has one connection. A frame is timely's bytes, a word of ours (JSON), a heartbeat, or the end.
//! A thread for each connection takes frames apart, so that heartbeats and words are heard whatever timely is doing; one
//! more thread sends heartbeats, and looks for connections on which nothing has been heard for too long.
//!
//! timely panics when a connection ends too early, and waits when nothing comes. Neither happens here: a connection that
//! is lost is told to whoever drives the search ([`Net::lost`]), what is still to be sent over it is dropped, and
//! whoever reads from it waits until the program ends. The search is over then, and it has no answer.

use crate::explore::others::Process;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};
use timely::communication::allocator::zero_copy::stream::Stream;

const DATA: u8 = 1;
const BEAT: u8 = 2;
const WORD: u8 = 3;
const END: u8 = 4;
/// A frame has at most so many bytes.
const MOST: u32 = 64 << 20;
/// How often heartbeats are sent, in parts of the silence that is borne.
const BEATS: u32 = 8;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection.
struct Link {
    peer: Process,
    writer: Mutex<Writer>,
    /// When something was heard last, in milliseconds of [`Common::begun`].
    heard: AtomicU64,
    /// The other one has said that it is done.
    has_ended: AtomicBool,
    bytes: AtomicU64,
    frames: AtomicU64,
}

struct Writer {
    stream: TcpStream,
    frame: Vec<u8>,
}

/// What all connections of a process share.
struct Common {
    begun: Instant,
    /// Nothing may be heard of a process for so long.
    silence: Duration,
    /// Why the search cannot go on.
    lost: Mutex<Option<String>>,
    is_lost: AtomicBool,
    /// Everything has been said: connections may end.
    is_closing: AtomicBool,
    /// Words that nobody has taken yet.
    words: Mutex<VecDeque<(Process, Value)>>,
    /// Who drives the search.
    driver: Mutex<Option<Thread>>,
}

impl Common {
    fn wake(&self) {
        if let Some(driver) = &*locked(&self.driver) {
            driver.unpark();
        }
    }

    fn lose(&self, why: impl FnOnce() -> String) {
        if self.is_closing.load(Ordering::Acquire) {
            return;
        }
        locked(&self.lost).get_or_insert_with(why);
        self.is_lost.store(true, Ordering::Release);
        self.wake();
    }
}

impl Link {
    /// Sends a frame. What cannot be sent is told as a loss.
    fn send(&self, common: &Common, kind: u8, bytes: &[u8]) {
        let mut writer = locked(&self.writer);
        self.send_by(&mut writer, common, kind, bytes);
    }

    fn send_by(&self, writer: &mut Writer, common: &Common, kind: u8, bytes: &[u8]) {
        if common.is_lost.load(Ordering::Acquire) && kind != WORD {
            return;
        }
        let Writer { stream, frame } = writer;
        frame.clear();
        frame.push(kind);
        frame.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        frame.extend_from_slice(bytes);
        self.bytes.fetch_add(frame.len() as u64, Ordering::Relaxed);
        self.frames.fetch_add(1, Ordering::Relaxed);
        if let Err(e) = stream.write_all(frame) {
            common.lose(|| match e.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("process {} takes nothing any more", self.peer)
                }
                _ => format!("the connection to process {} is gone: {e}", self.peer),
            });
        }
    }
}

/// All connections of a process to the others.
pub struct Net {
    me: Process,
    processes: usize,
    common: Arc<Common>,
    links: Vec<Option<Arc<Link>>>,
    /// For timely, which takes them once.
    incoming: Vec<Option<Receiver<Vec<u8>>>>,
}

impl Net {
    /// Of connections that were made and authenticated, by process.
    ///
    /// # Errors
    /// The system's.
    pub fn new(me: Process, streams: Vec<Option<TcpStream>>, silence: Duration) -> io::Result<Net> {
        let common = Arc::new(Common {
            begun: Instant::now(),
            silence,
            lost: Mutex::default(),
            is_lost: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            words: Mutex::default(),
            driver: Mutex::new(Some(std::thread::current())),
        });
        let processes = streams.len();
        let (mut links, mut incoming) = (vec![], vec![]);
        for (peer, stream) in streams.into_iter().enumerate() {
            let Some(stream) = stream else {
                links.push(None);
                incoming.push(None);
                continue;
            };
            stream.set_nodelay(true)?;
            stream.set_read_timeout(None)?;
            stream.set_write_timeout(Some(silence))?;
            let reader = stream.try_clone()?;
            let link = Arc::new(Link {
                peer: peer as Process,
                writer: Mutex::new(Writer { stream, frame: vec![] }),
                heard: AtomicU64::new(0),
                has_ended: AtomicBool::new(false),
                bytes: AtomicU64::new(0),
                frames: AtomicU64::new(0),
            });
            let (sender, receiver) = channel();
            let (hears, shares) = (link.clone(), common.clone());
            std::thread::Builder::new()
                .name(format!("from process {peer}"))
                .spawn(move || listen(&hears, &shares, reader, &sender))?;
            links.push(Some(link));
            incoming.push(Some(receiver));
        }
        let (all, shares): (Vec<_>, _) = (links.iter().flatten().cloned().collect(), Arc::downgrade(&common));
        std::thread::Builder::new().name("heartbeats".into()).spawn(move || {
            // Until the net is dropped.
            while let Some(common) = shares.upgrade() {
                beat(&all, &common);
                let pause = common.silence / BEATS;
                drop(common);
                std::thread::sleep(pause);
            }
        })?;
        Ok(Net { me, processes, common, links, incoming })
    }

    pub fn me(&self) -> Process {
        self.me
    }

    pub fn processes(&self) -> usize {
        self.processes
    }

    /// Why the search cannot go on, if it cannot.
    pub fn lost(&self) -> Option<String> {
        if self.common.is_lost.load(Ordering::Acquire) { locked(&self.common.lost).clone() } else { None }
    }

    /// Says something to a process.
    pub fn tell(&self, to: Process, word: &Value) {
        if let Some(Some(link)) = self.links.get(usize::from(to)) {
            link.send(&self.common, WORD, word.to_string().as_bytes());
        }
    }

    /// Says something to all others.
    pub fn tell_all(&self, word: &Value) {
        (0..self.processes).for_each(|to| self.tell(to as Process, word));
    }

    /// What was said and not heard yet.
    pub fn hear(&self) -> Option<(Process, Value)> {
        locked(&self.common.words).pop_front()
    }

    /// Waits for the next word.
    ///
    /// # Errors
    /// Why none will come.
    pub fn wait(&self) -> Result<(Process, Value), String> {
        loop {
            if let Some(word) = self.hear() {
                return Ok(word);
            }
            if let Some(why) = self.lost() {
                return Err(why);
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Sees that all processes have the same; each says it.
    ///
    /// # Errors
    /// Who has something else, or why nobody knows.
    pub fn agree(&self, what: &str, mine: &str) -> Result<(), String> {
        self.tell_all(&json!({"say": "have", "what": what, "value": mine}));
        let (mut others, mut later) = (vec![self.me], vec![]);
        while others.len() < self.processes {
            let (from, word) = self.wait()?;
            if word["say"] != "have" || word["what"] != what {
                // Who knows already that all agree may be further.
                later.push((from, word));
                continue;
            }
            if word["value"] != mine {
                return Err(format!("processes {from} and {} differ in {what}", self.me));
            }
            if others.contains(&from) {
                return Err(format!("process {from} says everything twice"));
            }
            others.push(from);
        }
        let mut words = locked(&self.common.words);
        later.into_iter().rev().for_each(|word| words.push_front(word));
        Ok(())
    }

    /// Asks whether another process was lost, as long as there are connections.
    pub fn loss(&self) -> impl Fn() -> Option<bool> + Send + use<> {
        let common = Arc::downgrade(&self.common);
        move || {
            let common = common.upgrade()?;
            let is_closing = common.is_closing.load(Ordering::Acquire);
            (!is_closing).then(|| common.is_lost.load(Ordering::Acquire))
        }
    }

    /// Ends a search that cannot go on, for all.
    pub fn give_up(&self, why: &str) {
        let word = json!({"say": "lost", "why": why}).to_string();
        for link in self.links.iter().flatten() {
            // A connection on which somebody is still writing has stalled, or its other end hears of it elsewhere.
            if let Ok(mut writer) = link.writer.try_lock() {
                let _ = writer.stream.set_write_timeout(Some(Duration::from_millis(500)));
                link.send_by(&mut writer, &self.common, WORD, word.as_bytes());
            }
        }
        self.common.lose(|| why.to_string());
    }

    /// Bytes and frames that were sent.
    pub fn sent(&self) -> (u64, u64) {
        let of = |count: fn(&Link) -> &AtomicU64| -> u64 {
            self.links.iter().flatten().map(|l| count(l).load(Ordering::Relaxed)).sum()
        };
        (of(|l| &l.bytes), of(|l| &l.frames))
    }

    /// The connections, for timely.
    pub fn streams(&mut self) -> Vec<Option<Pipe>> {
        let pipes = self.links.iter().zip(&mut self.incoming).map(|(link, incoming)| {
            let (link, incoming) = (link.clone()?, incoming.take()?);
            let source = Arc::new(Mutex::new(Some(incoming)));
            Some(Pipe {
                link,
                common: self.common.clone(),
                source,
                reading: Mutex::default(),
                buffer: vec![],
                at: 0,
            })
        });
        pipes.collect()
    }

    /// Everything has been said: waits a little until all others have said so, too.
    pub fn close(&self) {
        if self.lost().is_some() {
            return;
        }
        self.common.is_closing.store(true, Ordering::Release);
        for link in self.links.iter().flatten() {
            link.send(&self.common, END, &[]);
        }
        let begun = Instant::now();
        let is_open = |l: &&Arc<Link>| !l.has_ended.load(Ordering::Acquire);
        while self.links.iter().flatten().any(|l| is_open(&l)) && begun.elapsed() < Duration::from_secs(2) {
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

/// Whoever waits for bytes hears that there will be none.
impl Drop for Net {
    fn drop(&mut self) {
        self.common.is_closing.store(true, Ordering::Release);
        for link in self.links.iter().flatten() {
            // Not `locked`: somebody may be writing, and will be stopped by this.
            if let Ok(writer) = link.writer.try_lock() {
                let _ = writer.stream.shutdown(Shutdown::Both);
            }
        }
    }
}

/// Sends heartbeats, and looks for who is silent.
fn beat(links: &[Arc<Link>], common: &Common) {
    let now = common.begun.elapsed();
    for link in links {
        // Who is just sending needs none.
        if let Ok(mut writer) = link.writer.try_lock() {
            link.send_by(&mut writer, common, BEAT, &[]);
        }
        let heard = Duration::from_millis(link.heard.load(Ordering::Relaxed));
        if now.saturating_sub(heard) > common.silence && !link.has_ended.load(Ordering::Acquire) {
            let seconds = common.silence.as_secs_f64();
            common.lose(|| format!("process {} has not been heard of for {seconds} s", link.peer));
        }
    }
}

/// Takes frames apart, until there are no more.
fn listen(link: &Link, common: &Common, stream: TcpStream, data: &Sender<Vec<u8>>) {
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let ended = loop {
        match frame(&mut reader) {
            Ok((kind, bytes)) => {
                link.heard.store(common.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
                match kind {
                    // Nobody listens any more when the search is over.
                    DATA => drop(data.send(bytes)),
                    BEAT => {}
                    WORD => match serde_json::from_slice::<Value>(&bytes) {
                        Ok(word) if word["say"] == "lost" => {
                            let why = word["why"].as_str().unwrap_or("the search was given up");
                            common.lose(|| why.to_string());
                        }
                        Ok(word) => {
                            locked(&common.words).push_back((link.peer, word));
                            common.wake();
                        }
                        Err(e) => break Err(io::Error::new(ErrorKind::InvalidData, e)),
                    },
                    END => break Ok(()),
                    _ => break Err(io::Error::new(ErrorKind::InvalidData, "what came is no frame")),
                }
            }
            Err(e) => break Err(e),
        }
    };
    if let Err(e) = ended {
        common.lose(|| match e.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                format!("process {} has ended, or its connection was cut", link.peer)
            }
            _ => format!("the connection to process {} is gone: {e}", link.peer),
        });
    }
    link.has_ended.store(true, Ordering::Release);
    common.wake();
}

/// The next frame.
fn frame(reader: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    reader.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
    if length > MOST {
        return Err(io::Error::new(ErrorKind::InvalidData, "a frame is too long"));
    }
    let mut bytes = vec![0; length as usize];
    reader.read_exact(&mut bytes)?;
    Ok((head[0], bytes))
}

/// A connection as timely sees it: its bytes, and nothing else.
pub struct Pipe {
    link: Arc<Link>,
    common: Arc<Common>,
    source: Arc<Mutex<Option<Receiver<Vec<u8>>>>>,
    /// The source, of the one that reads; behind a lock, since timely shares what it has.
    reading: Mutex<Option<Receiver<Vec<u8>>>>,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let reading = self.reading.get_mut().unwrap_or_else(PoisonError::into_inner);
        if reading.is_none() {
            *reading = locked(&self.source).take();
        }
        while self.at == self.buffer.len() {
            let next = reading.as_ref().and_then(|source| source.recv().ok());
            match next {
                Some(bytes) => (self.buffer, self.at) = (bytes, 0),
                None => loop {
                    // An error or an early end would be a panic of timely's. There is nothing more to be read here.
                    std::thread::park();
                },
            }
        }
        let n = out.len().min(self.buffer.len() - self.at);
        out[..n].copy_from_slice(&self.buffer[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = bytes.len().min(MOST as usize);
        // What is lost is told elsewhere; an error would be a panic of timely's.
        self.link.send(&self.common, DATA, &bytes[..most]);
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Pipe {
    fn try_clone(&self) -> io::Result<Pipe> {
        let (link, common, source) = (self.link.clone(), self.common.clone(), self.source.clone());
        Ok(Pipe { link, common, source, reading: Mutex::default(), buffer: vec![], at: 0 })
    }

    fn set_nonblocking(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    /// The connection outlives timely: the last words follow.
    fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        Ok(())
    }
}

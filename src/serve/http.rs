//! Requests in, responses out: as much of HTTP/1.1 as a page on the same machine needs. `httparse` reads heads; what is
//! here are the limits. One request per connection.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The head of a request, and its headers.
const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// The body of a request: a trace may be long.
const MAX_BODY: usize = 8 << 20;
/// A request has to arrive within this time, and an answer has to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a page may do: run our scripts, use our styles, talk to us. Nothing else, and nothing inline, so that no text of
/// a model is ever executed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request, as far as we look at it.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Each once: a header that is there twice makes a request wrong.
    pub host: Option<String>,
    pub origin: Option<String>,
    pub site: Option<String>,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub kind: &'static str,
    pub body: Vec<u8>,
}

impl Response {
    pub fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status, kind, body: body.into() }
    }

    /// Refused, with the reason.
    pub fn refused(status: u16, why: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{why}\n"))
    }

    pub fn json(status: u16, value: &serde_json::Value) -> Response {
        Response::new(status, "application/json", value.to_string())
    }

    /// Sends it. Whoever has gone away does not get it.
    pub fn send(&self, stream: &mut TcpStream) {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            413 => "Content Too Large",
            415 => "Unsupported Media Type",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&self.body));
        let _ = stream.flush();
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
}

/// Reads a request.
///
/// # Errors
/// The response to a request that is wrong, too large or too slow; `None` if there was none.
pub fn read(stream: &mut TcpStream) -> Result<Request, Option<Response>> {
    let begun = Instant::now();
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let mut bytes = vec![];
    let (mut request, length, at) = loop {
        if let Some(read) = head(&bytes).map_err(Some)? {
            break read;
        }
        if bytes.len() >= MAX_HEAD {
            return Err(Some(Response::refused(413, "the head of the request is too large")));
        }
        more(stream, &mut bytes, begun)?;
    };
    if length > MAX_BODY {
        return Err(Some(Response::refused(413, "the request is too large")));
    }
    while bytes.len() < at + length {
        more(stream, &mut bytes, begun)?;
    }
    request.body = bytes[at..at + length].to_vec();
    Ok(request)
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, begun: Instant) -> Result<(), Option<Response>> {
    let late = || Some(Response::refused(408, "the request did not arrive in time"));
    let left = PATIENCE.checked_sub(begun.elapsed()).filter(|d| !d.is_zero()).ok_or_else(late)?;
    let _ = stream.set_read_timeout(Some(left));
    let mut buffer = [0; 16 << 10];
    match stream.read(&mut buffer) {
        Ok(0) => Err(None),
        Ok(n) => {
            bytes.extend_from_slice(&buffer[..n]);
            Ok(())
        }
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(()),
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err(late()),
        Err(_) => Err(None),
    }
}

/// The head of a request, the length of its body, and where that begins; `None` while it is not all there.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize, usize)>, Response> {
    let wrong = |why: &str| Response::refused(400, why);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let at = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(at)) => at,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(wrong("this is no request")),
    };
    let target = parsed.path.unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default().to_string();
    let mut request =
        Request { method: parsed.method.unwrap_or_default().to_string(), path, ..Request::default() };
    let mut length: Option<String> = None;
    for header in parsed.headers.iter() {
        let place = match header.name.to_ascii_lowercase().as_str() {
            "host" => &mut request.host,
            "origin" => &mut request.origin,
            "sec-fetch-site" => &mut request.site,
            "content-type" => &mut request.content_type,
            "content-length" => &mut length,
            "transfer-encoding" => return Err(wrong("send the body with its length")),
            _ => continue,
        };
        let value = std::str::from_utf8(header.value).map_err(|_| wrong("a header is no text"))?;
        if place.replace(value.trim().to_string()).is_some() {
            return Err(wrong("a header is there twice"));
        }
    }
    let length = match length {
        None => 0,
        Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| Response::refused(413, "the request is too large"))?
        }
        Some(_) => return Err(wrong("the length of the body is no number")),
    };
    Ok(Some((request, length, at)))
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn heads_are_read_or_refused() {
        let ok = b"POST /a?b#c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
        let (request, length, at) = head(ok).expect("a request").expect("all there");
        assert_eq!((request.path.as_str(), request.host.as_deref(), length), ("/a", Some("x"), 3));
        assert_eq!(&ok[at..], b"abc");
        assert!(head(&ok[..20]).expect("the beginning of one").is_none());
        for wrong in [
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            assert!(head(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let huge = "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n";
        assert_eq!(head(huge.as_bytes()).expect_err("too large").status, 413);
    }
}

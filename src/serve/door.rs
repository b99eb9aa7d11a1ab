//! Who may come in: whoever knows the token, under a name that we have, from a page of ours.

use super::http::{Request, Response};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::net::SocketAddr;

/// What a request has to know.
pub struct Door {
    token: String,
    address: SocketAddr,
    /// `127.0.0.1:8000`, `localhost:8000`
    hosts: Vec<String>,
}

/// 128 random bits. The standard library takes the keys of its hash maps from the system's source of randomness, and
/// without them their hashes cannot be told.
pub fn token() -> String {
    let word = |n: u64| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(n);
        hasher.finish()
    };
    // A thread of its own has keys of its own.
    let other = std::thread::spawn(move || word(1)).join().unwrap_or_else(|_| word(2));
    format!("{:016x}{other:016x}", word(0))
}

impl Door {
    pub fn new(address: SocketAddr) -> Door {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() {
            hosts.extend([format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")]);
        }
        Door { token: token(), address, hosts }
    }

    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// The path behind the token.
    pub fn enter<'r>(&self, request: &'r Request) -> Result<&'r str, Response> {
        let refuse = |why| Err(Response::refused(403, why));
        // A page of another site that got its name to mean this machine still has the name of that site here.
        let is_host = |host: &str| {
            self.hosts.iter().any(|h| h.eq_ignore_ascii_case(host))
                // Any name will do where everybody was let in on purpose, as long as it is a number.
                || (self.address.ip().is_unspecified() && host.parse::<SocketAddr>().is_ok())
        };
        if !request.host.as_deref().is_some_and(is_host) {
            return refuse("this is not the host that you asked for");
        }
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(is_host);
        if request.origin.as_deref().is_some_and(|o| !is_ours(o)) {
            return refuse("only the page itself may ask");
        }
        if request.site.as_deref().is_some_and(|s| !matches!(s, "same-origin" | "none")) {
            return refuse("only the page itself may ask");
        }
        let rest = request.path.strip_prefix('/').unwrap_or_default();
        let (token, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !same(token.as_bytes(), self.token.as_bytes()) {
            return refuse("open the address that `kanon serve` has printed");
        }
        if !rest.contains('/') {
            return Err(Response::refused(404, "the address ends with a slash"));
        }
        Ok(path)
    }
}

/// Whether they are equal, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_comes_in_without_the_token_the_host_and_the_origin() {
        let door = Door::new("127.0.0.1:8000".parse().expect("an address"));
        let path = format!("/{}/api/view", door.token);
        let request = |host: Option<&str>, origin: Option<&str>, site: Option<&str>, path: &str| Request {
            host: host.map(String::from),
            origin: origin.map(String::from),
            site: site.map(String::from),
            path: path.to_string(),
            ..Request::default()
        };
        let enters = |r: Request| door.enter(&r).is_ok_and(|p| p == "api/view");
        let host = Some("localhost:8000");
        assert!(enters(request(host, None, None, &path)));
        assert!(enters(request(host, Some("http://localhost:8000"), Some("same-origin"), &path)));
        for wrong in [
            request(None, None, None, &path),
            request(Some("evil.example:8000"), None, None, &path),
            request(Some("localhost:8001"), None, None, &path),
            request(host, Some("http://evil.example"), None, &path),
            request(host, Some("null"), None, &path),
            request(host, Some("https://localhost:8000"), None, &path),
            request(host, None, Some("cross-site"), &path),
            request(host, None, None, "/api/view"),
            request(host, None, None, "//api/view"),
            request(host, None, None, &format!("/{}x/api/view", door.token)),
            request(host, None, None, &format!("/{}/api/view", &door.token[..31])),
        ] {
            assert!(!enters(wrong));
        }
        assert_ne!(token(), token());
        assert_eq!(token().len(), 32);
    }
}

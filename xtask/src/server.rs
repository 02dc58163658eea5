//! The local web server: one folder and the model file, on the loopback address only.
//!
//! It is small because it may do little: GET and HEAD of plain files. Every response carries the
//! isolation headers and the content security policy, so that what runs in development and in the
//! tests runs under the same rules as anywhere else. Requests whose `Host` is not the loopback
//! address are refused: a web page elsewhere must not reach this server through a name of its own.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::places::Places;

/// The port of `serve`. Browser storage belongs to an origin, so it never moves by itself.
pub const DEFAULT_PORT: u16 = 8686;
/// Connections served at once; more are closed.
const MAX_CONNECTIONS: usize = 64;
/// The longest request head read.
const MAX_HEAD: u64 = 16 * 1024;
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(20);

/// No inline script or style, nothing from elsewhere but what the person connects to.
pub const CSP: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src *; manifest-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Sent with every response.
const HEADERS: [(&str, &str); 7] = [
    ("Content-Security-Policy", CSP),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Accept-Ranges", "bytes"),
];

/// What is served.
#[derive(Debug, Clone)]
pub struct Site {
    dist: PathBuf,
    model: PathBuf,
}

impl Site {
    /// The built site, with the model straight from the cache.
    pub fn of(places: &Places) -> Self {
        Self { dist: places.dist(), model: places.model() }
    }

    /// The file behind a request path, or nothing.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let decoded = percent_decode(path)?;
        let relative = decoded.strip_prefix('/')?;
        if relative.contains('\\') || relative.contains('\0') {
            return None;
        }
        let relative = Path::new(match relative {
            "" => "index.html",
            // What browsers ask for by themselves when they show anything but our page.
            "favicon.ico" => "icon.svg",
            other => other,
        });
        // Only plain names: no `..`, no root, no dot file.
        let plain = relative.components().all(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
            _ => false,
        });
        if !plain {
            return None;
        }
        let file = match relative.strip_prefix("model") {
            // Beside the model lie downloads and stamps that nobody asked to publish.
            Ok(name) if name.extension().is_some_and(|e| e == "gguf") => self.model.join(name),
            Ok(_) => return None,
            Err(_) => self.dist.join(relative),
        };
        file.is_file().then_some(file)
    }
}

/// A bound, not yet running server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
}

impl Server {
    /// Takes the port (0: any free one) on 127.0.0.1.
    pub fn bind(port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
            format!("port {port} is taken; another one: `cargo xtask serve --port {}`", port.saturating_add(1))
        })?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves until the process ends.
    pub fn run(self, site: &Site) -> Result<()> {
        let site = Arc::new(site.clone());
        let open = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else { continue };
            if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue; // dropping it closes it
            }
            let (site, open, port) = (Arc::clone(&site), Arc::clone(&open), self.port);
            std::thread::spawn(move || {
                // A client that goes away is no event worth a word.
                let _ = connection(&stream, &site, port);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
        Ok(())
    }
}

struct Request {
    method: String,
    path: String,
    host: String,
    range: Option<String>,
    if_none_match: Option<String>,
    close: bool,
}

fn connection(stream: &TcpStream, site: &Site, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(IDLE))?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let request = match read_request(&mut reader)? {
            Head::Request(request) => request,
            Head::End => return Ok(()),
            Head::Bad => return Reply::text(400, "This is not a request this server reads.").send(stream, true, true),
        };
        let reply = answer(&request, site, port);
        reply.send(stream, request.method == "HEAD", request.close)?;
        if request.close {
            return Ok(());
        }
    }
}

enum Head {
    Request(Request),
    End,
    Bad,
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Head> {
    let mut limited = reader.take(MAX_HEAD);
    let mut line = String::new();
    if limited.read_line(&mut line)? == 0 {
        return Ok(Head::End);
    }
    let mut words = line.split_ascii_whitespace();
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Ok(Head::Bad);
    };
    let path = target.split(['?', '#']).next().unwrap_or("/").to_owned();
    let mut request = Request {
        method: method.to_owned(),
        path,
        host: String::new(),
        range: None,
        if_none_match: None,
        close: version != "HTTP/1.1",
    };
    loop {
        let mut line = String::new();
        if limited.read_line(&mut line)? == 0 {
            return Ok(Head::Bad); // cut off, or longer than we read
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(Head::Request(request));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Ok(Head::Bad);
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => request.host = value.to_owned(),
            "range" => request.range = Some(value.to_owned()),
            "if-none-match" => request.if_none_match = Some(value.to_owned()),
            "connection" if value.eq_ignore_ascii_case("close") => request.close = true,
            // A body would be read as the next request: refuse it instead.
            "content-length" if value != "0" => return Ok(Head::Bad),
            "transfer-encoding" => return Ok(Head::Bad),
            _ => {}
        }
    }
}

fn answer(request: &Request, site: &Site, port: u16) -> Reply {
    let host_is_ours = ["127.0.0.1", "localhost"]
        .iter()
        .any(|name| request.host == format!("{name}:{port}") || (port == 80 && request.host == *name));
    if !host_is_ours {
        return Reply::text(403, "This server answers to 127.0.0.1 and localhost only.");
    }
    if request.method != "GET" && request.method != "HEAD" {
        let mut reply = Reply::text(405, "This server reads only: GET and HEAD.");
        reply.headers.push(("Allow", "GET, HEAD".to_owned()));
        return reply;
    }
    let Some(path) = site.file(&request.path) else {
        return Reply::text(404, "There is nothing at this address.");
    };
    match Reply::file(&path, request) {
        Ok(reply) => reply,
        Err(_) => Reply::text(500, "The file is there but cannot be read."),
    }
}

struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

enum Body {
    Bytes(Vec<u8>),
    Part(File, u64),
    None,
}

impl Reply {
    fn text(status: u16, text: &str) -> Self {
        let headers = vec![
            ("Content-Type", "text/plain; charset=utf-8".to_owned()),
            ("Content-Length", (text.len() + 1).to_string()),
            ("Cache-Control", "no-store".to_owned()),
        ];
        Self { status, headers, body: Body::Bytes(format!("{text}\n").into_bytes()) }
    }

    fn file(path: &Path, request: &Request) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let meta = file.metadata()?;
        let size = meta.len();
        let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let etag = format!("\"{size:x}-{:x}\"", modified.as_nanos());
        let (mime, lasting) = kind(path);
        let mut headers = vec![
            ("ETag", etag.clone()),
            (
                "Cache-Control",
                // Code is asked for again each time (a 304 costs nothing here); fonts and the
                // model are large and change with a release at most.
                if lasting { "public, max-age=604800" } else { "no-cache" }.to_owned(),
            ),
        ];
        if request.if_none_match.as_deref().is_some_and(|tags| tags.split(',').any(|t| t.trim() == etag)) {
            return Ok(Self { status: 304, headers, body: Body::None });
        }
        headers.push(("Content-Type", mime.to_owned()));
        let (status, from, length) = match request.range.as_deref().map(|r| parse_range(r, size)) {
            None | Some(Range::Ignored) => (200, 0, size),
            Some(Range::Part(from, to)) => {
                headers.push(("Content-Range", format!("bytes {from}-{to}/{size}")));
                (206, from, to - from + 1)
            }
            Some(Range::Unsatisfiable) => {
                let mut reply = Self::text(416, "The file is shorter than that.");
                reply.headers.push(("Content-Range", format!("bytes */{size}")));
                return Ok(reply);
            }
        };
        headers.push(("Content-Length", length.to_string()));
        file.seek(SeekFrom::Start(from))?;
        Ok(Self { status, headers, body: Body::Part(file, length) })
    }

    fn send(self, stream: &TcpStream, head_only: bool, close: bool) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(64 * 1024, stream);
        write!(out, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status))?;
        for (name, value) in HEADERS {
            write!(out, "{name}: {value}\r\n")?;
        }
        for (name, value) in &self.headers {
            write!(out, "{name}: {value}\r\n")?;
        }
        write!(out, "Connection: {}\r\n\r\n", if close { "close" } else { "keep-alive" })?;
        if !head_only {
            match self.body {
                Body::Bytes(bytes) => out.write_all(&bytes)?,
                Body::Part(file, length) => {
                    let sent = io::copy(&mut file.take(length), &mut out)?;
                    if sent != length {
                        // The file shrank under us: the promised length cannot be kept.
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Body::None => {}
            }
        }
        out.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        416 => "Range Not Satisfiable",
        _ => "Internal Server Error",
    }
}

/// MIME type, and whether the file lasts across builds.
fn kind(path: &Path) -> (&'static str, bool) {
    match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "html" => ("text/html; charset=utf-8", false),
        "js" | "mjs" => ("text/javascript; charset=utf-8", false),
        "css" => ("text/css; charset=utf-8", false),
        "wasm" => ("application/wasm", false),
        "json" => ("application/json; charset=utf-8", false),
        "webmanifest" => ("application/manifest+json; charset=utf-8", false),
        "md" | "txt" => ("text/plain; charset=utf-8", false),
        "svg" => ("image/svg+xml", false),
        "png" => ("image/png", false),
        "ttf" => ("font/ttf", true),
        "gguf" => ("application/octet-stream", true),
        _ => ("application/octet-stream", false),
    }
}

#[derive(Debug, PartialEq)]
enum Range {
    /// First and last byte, both included.
    Part(u64, u64),
    Unsatisfiable,
    /// Not one plain byte range: the whole file is a correct answer.
    Ignored,
}

fn parse_range(text: &str, size: u64) -> Range {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|r| r.split_once('-')) else {
        return Range::Ignored;
    };
    let (first, last) = (first.trim(), last.trim());
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(from), _) if from >= size => Range::Unsatisfiable,
        (Ok(from), Ok(to)) if to >= from => Range::Part(from, to.min(size - 1)),
        (Ok(from), Err(_)) if last.is_empty() => Range::Part(from, size - 1),
        (Err(_), Ok(0)) if first.is_empty() => Range::Unsatisfiable,
        (Err(_), Ok(_)) if first.is_empty() && size == 0 => Range::Unsatisfiable,
        (Err(_), Ok(count)) if first.is_empty() => Range::Part(size.saturating_sub(count), size - 1),
        _ => Range::Ignored,
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;

//! The server over a real socket, against a folder made for the test.

use super::*;

struct Running {
    port: u16,
    _dir: PathBuf,
}

fn start(name: &str) -> Running {
    let dir = std::env::temp_dir().join(format!("webgpu-os-server-{}-{name}", std::process::id()));
    let (dist, model) = (dir.join("dist"), dir.join("cache"));
    std::fs::create_dir_all(dist.join("fonts")).unwrap();
    std::fs::create_dir_all(&model).unwrap();
    std::fs::write(dir.join("secret.txt"), "secret").unwrap();
    std::fs::write(dist.join("index.html"), "<p>hello").unwrap();
    std::fs::write(dist.join(".hidden"), "hidden").unwrap();
    std::fs::write(dist.join("shell_bg.wasm"), b"\0asm").unwrap();
    std::fs::write(dist.join("fonts/a b.ttf"), "font").unwrap();
    std::fs::write(model.join("m.gguf"), "0123456789").unwrap();
    std::fs::write(model.join("m.whl"), "wheel").unwrap();
    let server = Server::bind(0).unwrap();
    let port = server.port();
    let site = Site { dist, model };
    std::thread::spawn(move || server.run(&site));
    Running { port, _dir: dir }
}

impl Running {
    fn raw(&self, text: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        let _ = stream.read_to_end(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn get(&self, path: &str, extra: &str) -> String {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{extra}\r\n", self.port))
    }
}

fn status(reply: &str) -> &str {
    reply.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn every_reply_carries_isolation_and_policy() {
    let server = start("headers");
    for path in ["/", "/nothing-here"] {
        let reply = server.get(path, "");
        assert!(reply.contains("Cross-Origin-Opener-Policy: same-origin\r\n"));
        assert!(reply.contains("Cross-Origin-Embedder-Policy: require-corp\r\n"));
        assert!(reply.contains(&format!("Content-Security-Policy: {CSP}\r\n")));
    }
    assert!(!CSP.contains("unsafe-inline") && !CSP.contains("'unsafe-eval'"));
    let page = server.get("/", "");
    assert_eq!(status(&page), "200");
    assert!(page.ends_with("<p>hello"));
    assert!(page.contains("Cache-Control: no-cache\r\n"));
    assert!(server.get("/shell_bg.wasm", "").contains("Content-Type: application/wasm\r\n"));
    let font = server.get("/fonts/a%20b.ttf", "");
    assert!(font.contains("Content-Type: font/ttf\r\n") && font.contains("max-age=604800"));
}

#[test]
fn no_path_leads_out_of_the_site() {
    let server = start("paths");
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/fonts/..%2f..%2fsecret.txt",
        "/..%5csecret.txt",
        "//etc/passwd",
        "/.hidden",
        "/index.html%00",
        "/%zz",
        "/%ff",
        "/fonts",
        "/model/m.whl",
        "/model/../m.gguf",
        "index.html",
    ] {
        let reply = server.get(path, "");
        assert_eq!(status(&reply), "404", "{path}: {reply}");
        assert!(!reply.contains("secret") && !reply.contains("root:"));
    }
}

#[test]
fn a_range_gives_exactly_its_bytes() {
    let server = start("range");
    for (range, code, body) in [
        ("bytes=2-4", "206", "234"),
        ("bytes=7-", "206", "789"),
        ("bytes=-3", "206", "789"),
        ("bytes=5-99", "206", "56789"),
        ("bytes=0-1,4-5", "200", "0123456789"),
        ("lines=1-2", "200", "0123456789"),
    ] {
        let reply = server.get("/model/m.gguf", &format!("Range: {range}\r\n"));
        assert_eq!(status(&reply), code, "{range}");
        assert!(reply.ends_with(&format!("\r\n\r\n{body}")), "{range}: {reply}");
        assert!(reply.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
    let beyond = server.get("/model/m.gguf", "Range: bytes=10-\r\n");
    assert_eq!(status(&beyond), "416");
    assert!(beyond.contains("Content-Range: bytes */10\r\n"));
    assert_eq!(parse_range("bytes=-5", 0), Range::Unsatisfiable);
    assert_eq!(parse_range("bytes=4-2", 10), Range::Ignored);
}

#[test]
fn an_unchanged_file_is_not_sent_twice() {
    let server = start("etag");
    let first = server.get("/", "");
    let etag = first.lines().find_map(|l| l.strip_prefix("ETag: ")).unwrap();
    let second = server.get("/", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!(status(&second), "304");
    assert!(second.ends_with("\r\n\r\n"));
}

#[test]
fn other_hosts_methods_and_bodies_are_refused() {
    let server = start("refused");
    let port = server.port;
    let foreign = server.raw("GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&foreign), "403");
    let post = server.raw(&format!("POST / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"));
    assert_eq!(status(&post), "405");
    let body = server.raw(&format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 5\r\n\r\nhello"));
    assert_eq!(status(&body), "400");
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(20_000));
    assert!(matches!(status(&server.raw(&long)), "400" | "none"));
    assert_eq!(status(&server.raw("hello\r\n\r\n")), "400");
    let head = server.raw(&format!("HEAD / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"));
    assert_eq!(status(&head), "200");
    assert!(head.contains("Content-Length: 8\r\n") && head.ends_with("\r\n\r\n"));
}

#[test]
fn one_connection_serves_many_requests() {
    let server = start("alive");
    let one = format!("GET /model/m.gguf HTTP/1.1\r\nHost: localhost:{}\r\n", server.port);
    let reply = server.raw(&format!("{one}\r\n{one}Connection: close\r\n\r\n"));
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 2);
}

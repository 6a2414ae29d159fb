"""An OpenID provider over TLS for tests: a discovery document, keys that can be rotated, and tokens signed by the openssl command."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time


def b64(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).decode().rstrip('=')


def openssl(*args, stdin=None):
    return subprocess.run(['openssl', *args], input=stdin, capture_output=True, check=True).stdout


class Key:
    """A key pair of the kind RS256 or ES256, in a file of `folder`."""

    def __init__(self, folder, kid, alg='RS256'):
        self.kid, self.alg = kid, alg
        self.path = os.path.join(folder, kid + '.key')
        kind = ['RSA', '-pkeyopt', 'rsa_keygen_bits:2048'] if alg == 'RS256' else ['EC', '-pkeyopt', 'ec_paramgen_curve:P-256']
        openssl('genpkey', '-algorithm', *kind, '-out', self.path)

    def public_pem(self):
        return openssl('pkey', '-in', self.path, '-pubout')

    def jwk(self):
        head = {'kid': self.kid, 'use': 'sig', 'alg': self.alg}
        if self.alg == 'RS256':
            modulus = openssl('rsa', '-in', self.path, '-noout', '-modulus').decode().strip().split('=')[1]
            return dict(head, kty='RSA', n=b64(bytes.fromhex(modulus)), e='AQAB')
        point = openssl('pkey', '-in', self.path, '-pubout', '-outform', 'DER')[-64:]
        return dict(head, kty='EC', crv='P-256', x=b64(point[:32]), y=b64(point[32:]))

    def sign(self, text):
        signature = openssl('dgst', '-sha256', '-sign', self.path, stdin=text)
        if self.alg == 'RS256':
            return signature
        # SEQUENCE { INTEGER r, INTEGER s } -> r || s
        r_size = signature[3]
        r, s = signature[4:4 + r_size], signature[6 + r_size:]
        return b''.join(int.from_bytes(n, 'big').to_bytes(32, 'big') for n in (r, s))

    def token(self, claims, **header):
        text = (b64(dict({'alg': self.alg, 'kid': self.kid, 'typ': 'JWT'}, **header)) + '.' + b64(claims)).encode()
        return text.decode() + '.' + b64(self.sign(text))

    def confused_token(self, claims):
        """Signed as HS256 with the public key as the secret."""
        text = (b64({'alg': 'HS256', 'kid': self.kid}) + '.' + b64(claims)).encode()
        return text.decode() + '.' + b64(hmac.new(self.public_pem(), text, hashlib.sha256).digest())


def certificate(folder):
    """(CA, certificate and key) for 127.0.0.1, as paths."""
    ca, ca_key, leaf, key = (os.path.join(folder, name) for name in ('ca.crt', 'ca.key', 'tls.crt', 'tls.key'))
    new = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    openssl(*new, '-keyout', ca_key, '-out', ca, '-subj', '/CN=test-ca')
    openssl(*new, '-keyout', key, '-out', leaf, '-subj', '/CN=127.0.0.1', '-CA', ca, '-CAkey', ca_key,
            '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-addext', 'basicConstraints=CA:FALSE')
    return ca, leaf, key


class TlsServer:
    """`answer(handler)` writes the response of every request."""

    def __init__(self, answer, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix='backplane-tls-')
        if not os.path.exists(os.path.join(self.folder, 'ca.crt')):
            certificate(self.folder)
        with open(os.path.join(self.folder, 'ca.crt'), encoding='utf-8') as f:
            self.ca = f.read()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_GET(self):
                answer(self)

            def do_POST(self):
                answer(self)

            def log_message(self, *args):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.folder, 'tls.crt'), os.path.join(self.folder, 'tls.key'))
        self.server = Quiet(('127.0.0.1', 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = 'https://127.0.0.1:%d' % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def reply(handler, code, body, headers=()):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(code)
    handler.send_header('Content-Type', 'application/json')
    handler.send_header('Content-Length', str(len(data)))
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


class Provider(TlsServer):
    """`pages`: further paths with their bodies.  `up` is false: every request gets 500.
    `delay`: the seconds before each answer."""

    def __init__(self, path='', folder=None):
        self.path, self.up, self.delay, self.cache_control, self.pages = path, True, 0, None, {}
        self.seen, self.condition = {}, threading.Condition()
        super().__init__(self.answer, folder)
        self.issuer = self.url + path
        self.keys = [Key(self.folder, 'k1')]
        self.published = list(self.keys)

    def answer(self, handler):
        with self.condition:
            self.seen[handler.path] = self.seen.get(handler.path, 0) + 1
            self.condition.notify_all()
        time.sleep(self.delay)
        if not self.up:
            return reply(handler, 500, {})
        if handler.path == self.path + '/.well-known/openid-configuration' or handler.path == '/discovery':
            return reply(handler, 200, {'issuer': self.issuer, 'jwks_uri': self.url + self.path + '/keys'})
        if handler.path == self.path + '/keys':
            headers = [('Cache-Control', self.cache_control)] if self.cache_control else []
            return reply(handler, 200, {'keys': [key.jwk() for key in self.published]}, headers)
        page = self.pages.get(handler.path)
        if page is None:
            return reply(handler, 404, {})
        return reply(handler, 200, page(handler) if callable(page) else page)

    def count(self, path):
        with self.condition:
            return self.seen.get(self.path + path, 0)

    def wait_for_request(self, path, count=1, seconds=60):
        with self.condition:
            return self.condition.wait_for(lambda: self.seen.get(self.path + path, 0) >= count, seconds)

    def claims(self, **changes):
        now = int(time.time())
        claims = {'iss': self.issuer, 'aud': 'app', 'sub': 'jane', 'exp': now + 600, 'iat': now}
        claims.update(changes)
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, **changes):
        return self.keys[0].token(self.claims(**changes))

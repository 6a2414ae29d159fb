"""Servers behind an APIService, for tests: certificates of a front proxy, and an HTTPS backend that the test controls."""
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading

GROUP = 'echo.example.com'
IDENTITY_FLAGS = ('--requestheader-username-headers=X-Remote-User', '--requestheader-uid-headers=X-Remote-Uid',
                  '--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-',
                  '--requestheader-allowed-names=front-proxy-client')


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, capture_output=True)


class Certificates:
    """An authority with its certificates, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', self.path('ca.key'), '-out',
                self.path('ca.crt'), '-subj', '/CN=authority', '-days', '30')

    def path(self, name):
        return os.path.join(self.folder, name)

    def issue(self, name, common_name, *names, digest='sha256'):
        """Paths of certificate and key, which are replaced together. Names are DNS names, or 'IP:' and an address."""
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', self.path(name + '.new.key'), '-out',
                self.path(name + '.csr'), '-subj', '/CN=' + common_name)
        with open(self.path(name + '.ext'), 'w') as f:
            f.write('extendedKeyUsage=serverAuth,clientAuth\n')
            if names:
                f.write('subjectAltName=' + ','.join(each if ':' in each else 'DNS:' + each for each in names) + '\n')
        openssl('x509', '-req', '-in', self.path(name + '.csr'), '-CA', self.path('ca.crt'), '-CAkey', self.path('ca.key'), '-CAcreateserial',
                '-days', '30', '-' + digest, '-extfile', self.path(name + '.ext'), '-out', self.path(name + '.new.crt'))
        for kind in ('.key', '.crt'):
            os.replace(self.path(name + '.new' + kind), self.path(name + kind))
        return self.path(name + '.crt'), self.path(name + '.key')

    def bundle(self):
        with open(self.path('ca.crt'), 'rb') as f:
            return f.read()


def resource_list(version='v1'):
    return {'kind': 'APIResourceList', 'apiVersion': 'v1', 'groupVersion': GROUP + '/' + version, 'resources': [
        {'name': 'echoes', 'singularName': 'echo', 'namespaced': True, 'kind': 'Echo', 'verbs': ['get', 'list', 'create'], 'shortNames': ['ec']},
        {'name': 'echoes/status', 'singularName': '', 'namespaced': True, 'kind': 'Echo', 'verbs': ['get']}]}


def aggregated_list():
    return {'kind': 'APIGroupDiscoveryList', 'apiVersion': 'apidiscovery.k8s.io/v2', 'metadata': {}, 'items': [
        {'metadata': {'name': GROUP}, 'versions': [{'version': 'v1', 'freshness': 'Current', 'resources': [
            {'resource': 'voices', 'responseKind': {'group': GROUP, 'version': 'v1', 'kind': 'Voice'}, 'scope': 'Cluster', 'singularResource': 'voice',
             'verbs': ['get', 'list'], 'subresources': [{'subresource': 'status', 'responseKind': {'group': '', 'version': '', 'kind': ''},
                                                         'verbs': ['get']}]}]}]}]}


class Backend:
    """An HTTPS server that returns discovery of GROUP, and echoes all other requests."""

    def __init__(self, certificates, client_ca=None, aggregated=False, name='echo.agg.svc', host='127.0.0.1', digest='sha256'):
        self.requests = []  # (path, headers, common name of the client)
        self.ended = []  # protocols of connections that were switched and have ended
        self.aggregated = aggregated
        self.broken = None  # how it fails: 'error', 'redirect'
        self.openapi_v2 = None  # its document, if it has one
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.answer(self)
            do_POST = do_DELETE = do_GET

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a client that does not trust the certificate closes the connection
                pass

        self.server = Quiet((host, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if digest == 'sha1':
            context.set_ciphers('DEFAULT@SECLEVEL=0')  # or its own library refuses the certificate
        context.load_cert_chain(*certificates.issue('echo', 'echo', *([name] if name else []), digest=digest))
        if client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(client_ca)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def answer(self, request):
        length = int(request.headers.get('Content-Length') or 0)
        body = request.rfile.read(length).decode()
        peer = dict(item[0] for item in (request.connection.getpeercert() or {}).get('subject', ()))
        self.requests.append((request.path, request.headers, peer.get('commonName')))
        if request.headers.get('Upgrade') and not self.broken:
            return self.switch(request)
        code, headers, answer = 200, {'Content-Type': 'application/json'}, None
        path = request.path.partition('?')[0]
        if self.broken == 'error':
            code, answer = 500, {'kind': 'Status', 'status': 'Failure', 'message': 'broken', 'code': 500}
        elif self.broken == 'redirect':
            code, answer, headers = 302, {}, {'Location': 'https://elsewhere.example.com/'}
        elif path == '/apis' and self.aggregated:
            answer = aggregated_list()
            headers['Content-Type'] = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
        elif path == '/openapi/v2' and self.openapi_v2:
            answer = self.openapi_v2
        elif path == '/apis/%s/v1' % GROUP:
            answer = resource_list()
        elif request.path.startswith('/apis/%s/v1/' % GROUP):
            answer = {'path': request.path, 'method': request.command, 'body': body, 'headers': list(request.headers.items())}
        else:
            code, answer = 404, {'kind': 'Status', 'status': 'Failure', 'reason': 'NotFound', 'code': 404}
        raw = json.dumps(answer).encode()
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header('Content-Length', str(len(raw)))
        request.end_headers()
        request.wfile.write(raw)

    def switch(self, request):
        """Switches to the requested protocol, and echoes everything twice until the client ends."""
        request.close_connection = True
        request.wfile.write(('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\nX-Stream-Protocol-Version: v4\r\n\r\n' %
                             request.headers['Upgrade']).encode())
        while said := request.connection.recv(1000):
            request.connection.sendall(said * 2)
        self.ended.append(request.headers['Upgrade'])

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Hanging:
    """Accepts connections, and never responds."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listener.getsockname()[1]

    def stop(self):
        self.listener.close()


def service(name, **spec):
    return {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': name}, 'spec': spec}


def external(name):
    return service(name, type='ExternalName', externalName='localhost')


def apiservice(version, group, namespace, service_name, port=443, **spec):
    return {'apiVersion': 'apiregistration.k8s.io/v1', 'kind': 'APIService', 'metadata': {'name': version + '.' + group},
            'spec': dict({'group': group, 'version': version, 'groupPriorityMinimum': 500, 'versionPriority': 20,
                          'service': {'namespace': namespace, 'name': service_name, 'port': port}}, **spec)}


def available(server, name):
    """(status, reason, message) of the APIService's condition; None as long as there is none."""
    found = server.request('GET', '/apis/apiregistration.k8s.io/v1/apiservices/' + name)[2]
    for condition in found.get('status', {}).get('conditions', []):
        if condition['type'] == 'Available':
            return condition['status'], condition['reason'], condition['message']
    return None

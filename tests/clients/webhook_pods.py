"""A kubelet that runs the webhooks of upstream's specs: agnhost's webhook is a process with the certificates of the pod's secret."""
import base64
import os
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading

import clients
import harness
from controllers_test import Kubelet


def own_address():
    """An address of this machine that is not loopback; endpoints refuse those. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
        return None if address.startswith('127.') else address


class Entrance(socketserver.ThreadingTCPServer):
    """The address of all webhooks. Each pod has the same port, so a connection is forwarded to the webhook whose namespace is in the server name of
    the TLS handshake."""
    allow_reuse_address, daemon_threads = True, True

    def __init__(self, address, port):
        self.ports = {}  # by namespace
        super().__init__((address, port), Forwarding)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()


class Forwarding(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            hello = b''
            # A TLS record: its type, its version, the length of the rest in two bytes.
            while len(hello) < 5 or len(hello) < 5 + int.from_bytes(hello[3:5], 'big'):
                part = self.request.recv(65536)
                if not part:
                    return
                hello += part
            port = next((port for name, port in list(self.server.ports.items()) if b'.%s.svc' % name.encode() in hello), None)
            if port is None:
                return
            with socket.create_connection(('127.0.0.1', port)) as webhook:
                webhook.sendall(hello)
                answers = threading.Thread(target=self.forward, args=(webhook, self.request), daemon=True)
                answers.start()
                self.forward(self.request, webhook)
                answers.join()
        except OSError:
            pass  # the client sees that the connection is closed

    @staticmethod
    def forward(source, target):
        try:
            while part := source.recv(65536):
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for each in (source, target):
                each.close()


class WebhookKubelet(Kubelet):
    """Runs the webhook's container, and only reports other containers as running."""

    def __init__(self, server, program, address):
        super().__init__(server)
        self.program, self.address, self.running, self.entrance = program, address, {}, None
        self.folder = tempfile.mkdtemp(prefix='backplane-webhook-pods-')

    def round(self):
        super().round()
        for path in list(self.running):
            if self.server.request('GET', path)[0] == 404:
                clients.end(self.running.pop(path)[0], 10)

    def say(self, path, pod, address):
        arguments = pod['spec']['containers'][0].get('args') or ['']
        if arguments[0] == 'webhook':
            if path not in self.running:
                self.running[path] = self.start_webhook(pod, arguments)
            if not self.is_ready(path):
                return
            address = self.address
        super().say(path, pod, address)

    def start_webhook(self, pod, arguments):
        """(process, port)"""
        folder = os.path.join(self.folder, pod['metadata']['uid'])
        os.makedirs(folder)
        namespace = pod['metadata']['namespace']
        volume = next(each['secret']['secretName'] for each in pod['spec']['volumes'] if 'secret' in each)
        _, _, secret = self.server.request('GET', '/api/v1/namespaces/%s/secrets/%s' % (namespace, volume))
        for name, data in secret['data'].items():
            with open(os.path.join(folder, name), 'wb') as out:
                out.write(base64.b64decode(data))
        mount = next(each['mountPath'] for each in pod['spec']['containers'][0]['volumeMounts'] if each['mountPath'].startswith('/webhook'))
        port = harness.free_port()
        if self.entrance is None:
            self.entrance = Entrance(self.address, pod['spec']['containers'][0]['ports'][0]['containerPort'])
        self.entrance.ports[namespace] = port
        own = [re.sub('=' + mount, '=' + folder, each) for each in arguments if not each.startswith(('-v', '--port'))]
        with open(folder + '.log', 'wb') as log:
            return subprocess.Popen([self.program, *own, '--port=%d' % port], stdout=log, stderr=subprocess.STDOUT), port

    def is_ready(self, path):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with socket.create_connection(('127.0.0.1', self.running[path][1]), 5) as plain, context.wrap_socket(plain):
                return True
        except OSError:
            return False

    def end(self):
        super().end()
        for process, _ in self.running.values():
            clients.end(process, 10)
        if self.entrance:
            self.entrance.end()
        shutil.rmtree(self.folder, ignore_errors=True)

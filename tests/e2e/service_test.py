"""The protocol between systemd and a service: notifications, watchdog, reload and socket activation.  The test plays systemd's part."""
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from harness import BINARY, PLUGINS, Server, main, wait_for

# As systemd starts a service with a socket: descriptor 3, and the process id in the environment.
PASSING = 'exec 3<&"$FD"; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'


class Notifications:
    """The socket to which services send their notifications."""

    def __init__(self, directory):
        self.path = os.path.join(directory, 'notify')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(60)

    def next(self, wanted):
        """The next message with a line that begins so; other messages are skipped."""
        while True:
            message = self.socket.recv(4096).decode()
            if any(line.startswith(wanted) for line in message.splitlines()):
                return message

    def close(self):
        self.socket.close()


class Service(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='backplane-service-')
        self.addCleanup(directory.cleanup)
        self.dir = directory.name

    def test_what_a_service_reports(self):
        notifications = Notifications(self.dir)
        self.addCleanup(notifications.close)
        with Server(env={'NOTIFY_SOCKET': notifications.path, 'WATCHDOG_USEC': '400000'}) as server:
            self.assertEqual(notifications.next('READY='), 'READY=1\n')
            for _ in range(3):
                notifications.next('WATCHDOG=1')
            with open('/proc/%d/environ' % server.process.pid, 'rb') as f:
                self.assertIn(b'NOTIFY_SOCKET=', f.read())  # that the server was started with
            server.process.send_signal(signal.SIGHUP)
            self.assertRegex(notifications.next('RELOADING=1'), r'^RELOADING=1\nMONOTONIC_USEC=\d+\n$')
            self.assertEqual(notifications.next('READY='), 'READY=1\n')
            self.assertEqual(server.request('GET', '/readyz')[0], 200)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(notifications.next('STOPPING=1'), 'STOPPING=1\n')
            self.assertEqual(server.process.wait(60), 0)

    def test_without_a_service_manager_a_hangup_ends_the_process(self):
        with Server() as server:
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual(server.process.wait(60), -signal.SIGHUP)

    def start_with(self, listener, log):
        command = ['sh', '-c', PASSING, 'sh', BINARY, '--data-dir', os.path.join(self.dir, 'data'), '--plugin-dir', PLUGINS,
                   '--secure-port', '1', '--controllers=']  # the port is the socket's
        return subprocess.Popen(command, env=dict(os.environ, FD=str(listener.fileno())), pass_fds=[listener.fileno()], stdout=log, stderr=log)

    def test_a_socket_of_the_service_manager(self):
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        log_path = os.path.join(self.dir, 'log')
        for _ in range(2):  # The second start is a restart: the port stays open in between.
            waiting = socket.create_connection(('127.0.0.1', port), timeout=60)
            self.addCleanup(waiting.close)
            with open(log_path, 'wb') as log:
                process = self.start_with(listener, log)
                self.addCleanup(process.kill)
                with tls.wrap_socket(waiting) as connection:
                    connection.sendall(b'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
                    self.assertIn(b'HTTP/1.1 ', connection.recv(4096))
                self.assertTrue(wait_for(lambda: 'export KUBECONFIG=' in pathlib.Path(log_path).read_text(encoding='utf-8')))
                with open(os.path.join(self.dir, 'data', 'admin.kubeconfig'), encoding='utf-8') as f:
                    self.assertEqual(re.search(r'server: https://[^:]+:(\d+)', f.read())[1], str(port))
                process.terminate()
                self.assertEqual(process.wait(60), 0)

    def test_a_descriptor_that_is_no_listening_socket(self):
        other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(other.close)
        with open(os.path.join(self.dir, 'log'), 'wb') as log:
            process = self.start_with(other, log)
            self.assertEqual(process.wait(60), 1)
        with open(os.path.join(self.dir, 'log'), encoding='utf-8') as f:
            self.assertIn('Error: LISTEN_FDS: the socket that the service manager passes is not a listening TCP socket', f.read())


if __name__ == '__main__':
    main()

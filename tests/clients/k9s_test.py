"""k9s, a terminal interface, in a pseudo-terminal: views that follow watches, descriptions, YAML, deletion.

It takes six minutes of a processor to build, so the environment must have K9S=1."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
import harness  # noqa: E402

MAPS = '/api/v1/namespaces/default/configmaps'
GROUP = 'stable.example.com'
SECONDS = 60  # generous: the machine may be busy
ESCAPES = re.compile(rb'\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][0-9A-Za-z]|\x1b[=>78]|\x0f')


class Terminal:
    """A program in a pseudo-terminal. `shown` is all that it has written since forget(), without escape sequences."""

    def __init__(self, command, folder):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 180, 0, 0))
        environment = dict(os.environ, HOME=folder, K9S_CONFIG_DIR=os.path.join(folder, 'k9s'), TERM='xterm-256color', EDITOR='true')
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.master, self.raw, self.lock = master, b'', threading.Lock()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                return
            if not got:
                return
            with self.lock:
                self.raw += got

    @property
    def shown(self):
        with self.lock:
            return ESCAPES.sub(b'', self.raw).decode(errors='replace')

    def forget(self):
        with self.lock:
            self.raw = b''

    def type(self, text):
        self.forget()
        os.write(self.master, text.encode())

    def stop(self):
        clients.end(self.process, 20)
        self.reader.join(20)
        os.close(self.master)


class K9s(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get('K9S') != '1':
            raise unittest.SkipTest('K9S is not set')
        try:
            cls.program = clients.build_k9s()
        except clients.Missing as why:
            raise unittest.SkipTest('k9s cannot be built: %s' % why)
        cls.server = harness.Server()
        cls.addClassCleanup(cls.server.stop)
        cls.serve_custom_type()

    @classmethod
    def serve_custom_type(cls):
        """k9s knows the names of the types that it finds when it starts."""
        definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'crontabs.' + GROUP},
                      'spec': {'group': GROUP, 'scope': 'Namespaced', 'names': {'plural': 'crontabs', 'kind': 'CronTab', 'singular': 'crontab'},
                               'versions': [{'name': 'v1', 'served': True, 'storage': True,
                                             'additionalPrinterColumns': [{'name': 'Spec', 'type': 'string', 'jsonPath': '.spec.cron'}],
                                             'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}}
        code, _, answer = cls.server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
        assert code == 201, answer
        tab = {'apiVersion': GROUP + '/v1', 'kind': 'CronTab', 'metadata': {'name': 'nightly'}, 'spec': {'cron': '0 3 * * 1'}}
        path = '/apis/%s/v1/namespaces/default/crontabs' % GROUP
        assert harness.wait_for(lambda: cls.server.request('POST', path, tab)[0] in (201, 409), SECONDS)

    def setUp(self):
        self.terminal = Terminal([self.program, '--kubeconfig', self.server.kubeconfig, '--command', 'namespaces', '--headless', '--logoless',
                                  '--refresh', '1'], self.server.dir)
        self.addCleanup(self.terminal.stop)
        self.sees('kube-system')

    def sees(self, *texts):
        def seen():
            return all(text in self.terminal.shown for text in texts)
        harness.wait_for(lambda: seen() or self.terminal.process.poll() is not None, SECONDS)
        self.assertTrue(seen(), (texts, self.terminal.shown[-3000:]))

    def open(self, view):
        self.terminal.type(':')
        self.sees('>')
        self.terminal.type(view + '\r')

    def make_map(self, name):
        code, _, answer = self.server.request('POST', MAPS, {'metadata': {'name': name}, 'data': {'colour': 'green'}})
        self.assertEqual(code, 201, answer)

    def test_views_follow_the_server(self):
        self.make_map('first-map')
        self.open('configmaps default')
        self.sees('first-map')
        self.terminal.forget()
        self.make_map('second-map')
        self.sees('second-map')
        self.terminal.type('/first\r')
        self.sees('first-map')
        self.terminal.type('y')
        self.sees('colour', 'green', 'kind: ConfigMap')
        self.terminal.type('\x1b')
        self.sees('first-map')
        self.terminal.type('d')
        self.sees('Name:', 'BinaryData')
        self.terminal.type('\x1b')
        self.sees('first-map')
        self.terminal.type('\x04')
        self.sees('Delete configmaps default/first-map?')
        self.terminal.type('\t\r')
        self.assertTrue(harness.wait_for(lambda: self.server.request('GET', MAPS + '/first-map')[0] == 404, SECONDS), self.terminal.shown[-3000:])
        self.open('quit')
        self.assertEqual(self.terminal.process.wait(SECONDS), 0)

    def test_custom_types_and_rights_are_shown(self):
        self.open('customresourcedefinitions')
        self.sees('crontabs', GROUP)
        self.open('crontabs')
        self.sees('nightly', '0 3 * * 1')
        self.open('clusterroles')
        self.sees('cluster-admin')


if __name__ == '__main__':
    harness.main()

"""The profiles at /debug/pprof/, read by `go tool pprof`."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import Server, configmap  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clients import go_environment  # noqa: E402

CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
SNAPSHOTS = {'heap': 'inuse_space', 'allocs': 'inuse_space', 'goroutine': 'goroutine', 'threadcreate': 'threadcreate', 'block': 'delay',
             'mutex': 'delay'}


@unittest.skipUnless(shutil.which('go'), 'Go is not installed')
class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def get(self, path, method='GET', body=None):
        connection = self.server.connect()
        connection.request(method, path, body)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, response.headers, data

    def profile(self, path):
        """The path of a file with the profile."""
        status, headers, data = self.get('/debug/pprof/' + path)
        name = path.split('?')[0]
        self.assertEqual((status, headers['Content-Type'], headers['X-Content-Type-Options'], headers['Content-Disposition']),
                         (200, 'application/octet-stream', 'nosniff', 'attachment; filename="%s"' % name), data[:300])
        file = os.path.join(self.folder.name, name)
        with open(file, 'wb') as out:
            out.write(data)
        return file

    def pprof(self, file, *flags):
        read = subprocess.run(['go', 'tool', 'pprof', *flags, file], env=dict(go_environment(), PPROF_TMPDIR=self.folder.name),
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(read.returncode, 0, read.stderr)
        return read.stdout

    def test_processor_time_is_attributed_to_functions(self):
        def load(_):
            connection, number = self.server.connect(), 0
            while not self.done:
                connection.request('GET', CONFIG_MAPS)
                connection.getresponse().read()
                number += 1
            connection.close()
            return number
        self.done = False
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            workers = [pool.submit(load, i) for i in range(2)]
            file = self.profile('profile?seconds=2')
            self.done = True
            self.assertGreater(min(worker.result() for worker in workers), 0)
        top = self.pprof(file, '-top', '-nodecount=1000')
        self.assertIn('Type: cpu', top)
        samples = re.search(r'Total samples = ([0-9.]+)(ms|s)', top)
        self.assertGreater(float(samples[1]), 0, top)
        self.assertRegex(top, r'backplane::\w+')
        # Most addresses have a name.
        named, total = len(re.findall(r'% +[a-zA-Z_].*$', top, re.M)), len(re.findall(r'^ +\S+ +\S+% +\S+% ', top, re.M))
        self.assertGreater(named, total / 2, top)

    def test_one_profile_of_processor_time_at_a_time(self):
        status = 200
        while status == 200:  # the second may have come first
            first = self.server.connect()
            first.request('GET', '/debug/pprof/profile?seconds=600')
            status, headers, data = self.get('/debug/pprof/profile?seconds=1')
            if status == 200:
                first.close()
        self.assertEqual((status, data, headers['X-Go-Pprof']), (500, b'Could not enable CPU profiling: cpu profiling already in use\n', '1'))
        first.close()  # ends it
        while self.get('/debug/pprof/profile?seconds=1')[0] != 200:
            pass

    def test_every_snapshot_is_read(self):
        for name, kind in SNAPSHOTS.items():
            with self.subTest(name=name):
                top = self.pprof(self.profile(name), '-top')
                self.assertIn('Type: ' + kind, top)
                if kind != 'delay':
                    self.assertNotIn('Total samples = 0', top)

    def test_waits_for_locks_are_recorded_on_request(self):
        self.assertIn('--contention-profiling only', self.get('/debug/pprof/block?debug=1')[2].decode())
        with Server('--contention-profiling') as server:
            def load(number):
                connection = server.connect()
                while not self.done:
                    connection.request('POST', CONFIG_MAPS, json.dumps(configmap('m-%d-%d' % (number, time.monotonic_ns()))),
                                       {'Content-Type': 'application/json'})
                    connection.getresponse().read()
                connection.close()
            self.done = False
            default, self.server = self.server, server
            try:
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    workers = [pool.submit(load, number) for number in range(16)]
                    deadline = time.monotonic() + 60
                    while b'pthread_' not in self.get('/debug/pprof/block?debug=1')[2] and time.monotonic() < deadline:
                        time.sleep(0.5)
                    self.done = True
                    for worker in workers:
                        worker.result()
                top = self.pprof(self.profile('block'), '-top', '-nodecount=1000')
            finally:
                self.done, self.server = True, default
        self.assertIn('Type: delay', top)
        self.assertRegex(top, r'pthread_(mutex_|rwlock_rd|rwlock_wr)lock')
        self.assertNotIn('Total samples = 0', top)

    def test_heap_is_what_malloc_says(self):
        top = self.pprof(self.profile('heap'), '-top', '-unit=B')
        self.assertRegex(top, r'[0-9]+B .*arena 0')
        self.assertIn(b'<malloc version="1">', self.get('/debug/pprof/heap?debug=1')[2])

    def test_threads_and_watches_are_shown(self):
        connection = self.server.connect()
        connection.request('GET', CONFIG_MAPS + '?watch=1')
        response = connection.getresponse()
        self.server.request('POST', CONFIG_MAPS, configmap('seen', k='v'))
        response.readline()
        names = self.pprof(self.profile('goroutine'), '-traces')
        self.assertIn('WATCH configmaps (v1)', names)
        self.assertIn('tasks of plugins', names)
        self.assertIn('epoll_wait', names)
        text = self.get('/debug/pprof/goroutine?debug=1')[2].decode()
        self.assertRegex(text, r'\Agoroutine profile: total \d+\n\d+ @( 0x[0-9a-f]+)+\n#\t0x[0-9a-f]+\t')
        self.assertIn('long-running requests: WATCH configmaps (v1)', text)
        stacks = self.get('/debug/pprof/goroutine?debug=2')[2].decode()
        self.assertRegex(stacks, r'(?m)^thread \d+ \S+ \[\w+\]:\n.*epoll_wait')
        connection.close()

    def test_symbols(self):
        stacks = self.get('/debug/pprof/goroutine?debug=1')[2].decode()
        address, name = re.search(r'#\t(0x[0-9a-f]+)\t(backplane::\w+)', stacks).groups()
        self.assertEqual(self.get('/debug/pprof/symbol')[2], b'num_symbols: 1\n')
        for method, path, body in (('GET', 'symbol?' + address + '+0x1', None), ('POST', 'symbol', address)):
            text = self.get('/debug/pprof/' + path, method, body)[2].decode()
            self.assertTrue(text.startswith('num_symbols: 1\n%s %s' % (address, name)), text)
            self.assertEqual(text.count('\n'), 2, text)

    def test_what_is_not_there_is_refused(self):
        for path, status, text in (('nothing', 404, 'Unknown profile\n'), ('trace?seconds=1', 501, None), ('cmdline', 404, 'Unknown profile\n'),
                                   ('heap?seconds=3', 400, '"seconds" parameter is not supported for this profile type\n')):
            got, headers, data = self.get('/debug/pprof/' + path)
            self.assertEqual((got, headers['X-Go-Pprof']), (status, '1'), path)
            if text:
                self.assertEqual(data.decode(), text)


if __name__ == '__main__':
    unittest.main()

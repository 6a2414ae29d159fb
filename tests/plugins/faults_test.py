"""Plugins that fail at run time: the log names plugin and call, the server continues, and a shutdown completes."""
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import PLUGINS, Server, is_sanitized  # noqa: E402

ACTORS = os.environ['ACTORS']


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-faults-')
        self.addCleanup(shutil.rmtree, self.folder)

    def server(self, actor, *flags, **more):
        shutil.copy(os.path.join(ACTORS, actor + '.so'), self.folder)
        return Server('--plugin-dir=' + self.folder, *flags, plugin_dir=PLUGINS, **more)

    def wait_for(self, server, text, seconds=60):
        deadline = time.monotonic() + seconds
        while text not in server.text():
            self.assertLess(time.monotonic(), deadline, '%r is not in\n%s' % (text, server.text()[-3000:]))
            time.sleep(0.05)

    def lines(self, server, text):
        return [line for line in server.text().splitlines() if text in line]

    def test_a_post_start_hook_of_an_optional_plugin_that_fails_leaves_its_check_red(self):
        with self.server('actor_throws_at_start', wait=False) as server:
            self.wait_for(server, 'export KUBECONFIG=')  # it never becomes ready
            server.read_kubeconfig()
            failed = self.lines(server, 'post-start hook failed')
            self.assertEqual(len(failed), 1, server.text()[-3000:])
            for part in ('plugin=actor', 'hook=never-ready', 'thrown in a hook'):
                self.assertIn(part, failed[0])
            code, _, text = server.request('GET', '/readyz?verbose')
            self.assertEqual(code, 500)
            self.assertIn('[-]poststarthook/never-ready failed', str(text))
            self.assertEqual(server.request('GET', '/api/v1/namespaces/default')[0], 200)
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])

    def test_what_is_posted_and_what_the_stop_signal_calls_may_throw(self):
        with self.server('actor_rude') as server:
            self.wait_for(server, 'thrown by what was posted')
            lines = self.lines(server, 'a function posted to an executor threw')
            self.assertEqual(len(lines), 1, 'one line a minute')
            self.assertIn('executor=actor', lines[0])
            self.assertEqual(server.request('GET', '/readyz')[0], 200)
            self.assertEqual(server.terminate(), 0, server.text()[-3000:])
            lines = self.lines(server, 'thrown on stop')
            self.assertEqual(len(lines), 1)
            self.assertIn('plugin=actor', lines[0])

    def test_a_crash_in_a_plugin_is_a_line_that_names_it(self):
        if is_sanitized():
            self.skipTest('the sanitizer says it in its own way')
        for path in ('/crash', '/recurse'):
            with self.server('actor_rude') as server:
                try:
                    server.request('GET', path)
                except OSError:
                    pass
                self.assertEqual(server.process.wait(60), -signal.SIGSEGV)
                lines = self.lines(server, 'fatal signal=SIGSEGV')
                self.assertEqual(len(lines), 1, server.text()[-3000:])
                self.assertRegex(lines[0], r'plugin=actor place=\S*/actor_rude\.so\+0x[0-9a-f]+')

    def test_a_lifecycle_call_that_never_returns_does_not_hold_a_stop(self):
        with self.server('actor_loops_in_validate', '-v=4', wait=False) as server:
            self.wait_for(server, 'looping call=validate')
            self.assertEqual(server.terminate(timeout=60), 1)
            lines = self.lines(server, 'a plugin call does not return')
            self.assertEqual(len(lines), 1, server.text()[-3000:])
            self.assertIn('plugin=actor call=validate()', lines[0])

    def test_a_request_that_never_returns_does_not_hold_a_stop(self):
        if is_sanitized():
            self.skipTest('threads are not looked at')
        with self.server('actor_rude', '--request-timeout=1s') as server:
            try:
                connection = server.connect()
                connection.timeout = 3
                server.request('GET', '/loop', connection=connection)
            except OSError:
                pass
            self.assertEqual(server.terminate(timeout=120), 1)
            lines = self.lines(server, 'a thread is running plugin code')
            self.assertEqual(len(lines), 1, server.text()[-3000:])
            self.assertIn('plugin=actor', lines[0])

    def test_the_error_of_two_plugins_with_one_group_names_both(self):
        import json
        import re
        import subprocess
        from harness import BINARY
        with open(os.path.join(ACTORS, 'actor.so'), 'rb') as f:
            data = f.read()
        old = re.search(rb'\{"description":"The note has room[^}]*\}', data)[0]
        paths = []
        for name in ('first', 'second'):
            manifest = json.dumps({'name': name, 'version': '1.0.0', 'provides': ['group:example.com']}).encode().ljust(len(old))
            paths.append(os.path.join(self.folder, name + '.so'))
            with open(paths[-1], 'wb') as f:
                f.write(data.replace(old, manifest))
        for words in (paths, ['--plugin-dir', self.folder]):
            done = subprocess.run([BINARY, 'plugin', 'check', *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn('PLG-PLAN-009', done.stdout)
            self.assertIn('group:example.com of first in ' + paths[0], done.stdout)
            self.assertIn('group:example.com of second in ' + paths[1], done.stdout)


if __name__ == '__main__':
    unittest.main()

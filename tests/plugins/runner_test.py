"""Plugins of the stable tier in runner processes: they do what they do in the server's process, and a crash of the process affects nothing else."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

import stable_points_test as points  # pylint: disable=wrong-import-position
import stable_test as stable  # pylint: disable=wrong-import-position
from harness import BINARY, PLUGINS, Server, is_sanitized, kubectls, wait_for  # pylint: disable=wrong-import-position

STOCK = '--plugin-placement=example.com/stock=runner'
POINTS = '--plugin-placement=points=runner'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'


# ---- the same tests as in the server's process

@unittest.skipUnless(stable.GCC, 'no gcc')
class StockInC(stable.Stock, unittest.TestCase):
    flags = (STOCK,)
    build = classmethod(lambda cls, folder: stable.compiled(folder, 'stable-c', 'gcc', '-std=c11', '-O2', '-s'))


@unittest.skipUnless(stable.GCC, 'no gcc')
class StockInCpp(stable.CppStock, unittest.TestCase):
    flags = (STOCK,)
    build = classmethod(lambda cls, folder: stable.compiled(folder, 'stable-cpp', 'g++', '-std=c++20', '-O2', '-fno-gnu-unique'))


class EveryTable(points.Tables, unittest.TestCase):
    flags = (POINTS,)

    @classmethod
    def make_file(cls):
        points.build(cls.folder)


# ---- the process

def status_of(server, name):
    found = [each for each in server.request('GET', '/debug/plugins')[2]['plugins'] if each['name'] == name]
    return found[0] if found else {}


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-runner-')
        self.addCleanup(shutil.rmtree, self.folder)

    def serve(self, *flags, name=points.NAME):
        server = Server('--plugin-dir=' + self.folder, *flags, plugin_dir=PLUGINS)
        self.addCleanup(server.stop)
        self.server = server
        self.name = name
        return server

    def status(self):
        return status_of(self.server, self.name)

    def pid(self):
        return self.status().get('pid', 0)

    def restarted(self, former, restarts=1):
        def done():
            now = self.status()
            return now.get('pid', 0) not in (0, former) and now['restarts'] >= restarts
        self.assertTrue(wait_for(done), '%s\n%s' % (self.status(), self.server.text()[-3000:]))

    def make_point(self, name, code=201):
        got, headers, answer = self.server.request('POST', points.POINTS, {
            'apiVersion': 'points.example.com/v1', 'kind': 'Point', 'metadata': {'name': name}, 'spec': {'x': 1}})
        self.assertEqual(got, code, '%s\n%s' % (answer, self.server.text()[-3000:]))
        return headers, answer


class Supervision(Case):
    def test_it_is_shown_with_its_process(self):
        points.build(self.folder)
        server = self.serve(POINTS, '--runtime-config=plugins.backplane.dev/v1alpha1=true')
        pid = self.pid()
        self.assertTrue(alive(pid))
        with open('/proc/%d/cmdline' % pid, encoding='utf-8') as f:
            self.assertIn('plugin\0runner', f.read())
        with open('/proc/%d/maps' % server.process.pid, encoding='utf-8') as f:
            self.assertNotIn('points', f.read())
        shown = server.request('GET', '/apis/plugins.backplane.dev/v1alpha1/plugins/points.test.example.com')[2]['status']
        self.assertEqual(shown['placement'], 'runner/%d' % pid)
        listed = subprocess.run([BINARY, 'plugin', 'list', '--kubeconfig', server.kubeconfig], capture_output=True, text=True, check=True).stdout
        self.assertIn(' runner/%d ' % pid, listed)
        self.assertIn(' in-process ', listed)
        for kubectl in kubectls()[:1]:
            self.assertIn('runner/%d' % pid, server.kubectl(kubectl, 'get', 'plugins'))

    @unittest.skipUnless(stable.GCC, 'no gcc')
    def test_killed_under_load_it_is_restarted_and_nothing_else_fails(self):
        stable.compiled(self.folder, 'stable-c', 'gcc', '-std=c11', '-O2')
        server = self.serve(STOCK, name=stable.NAME)
        self.assertEqual(server.request('POST', stable.SHELVES, stable.shelf('read'))[0], 201)
        done, lock, codes = threading.Event(), threading.Lock(), {}

        def load(kind, work):
            i = 0
            while not done.is_set():
                i += 1
                code, headers, answer = work(i)
                with lock:
                    codes.setdefault(kind, []).append((code, headers.get('Retry-After'), answer))

        lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': ''}, 'spec': {}}
        works = {'reads': lambda i: server.request('GET', stable.SHELVES + '/read'),
                 'leases': lambda i: server.request('POST', LEASES, dict(lease, metadata={'name': 'lease-%d' % i})),
                 'writes': lambda i: server.request('POST', stable.SHELVES, stable.shelf('made-%d' % i))}
        threads = [threading.Thread(target=load, args=each) for each in works.items()]
        for each in threads:
            each.start()
        for restarts in range(1, 4):
            pid = self.pid()
            os.kill(pid, signal.SIGKILL)
            self.restarted(pid, restarts)
            count = len(codes.get('writes', []))
            self.assertTrue(wait_for(lambda: any(code == 201 for code, _, _ in codes.get('writes', [])[count:])))  # pylint: disable=cell-var-from-loop
        done.set()
        for each in threads:
            each.join()
        self.assertEqual({code for code, _, _ in codes['reads']}, {200})
        self.assertEqual({code for code, _, _ in codes['leases']}, {201})
        self.assertLessEqual({code for code, _, _ in codes['writes']}, {201, 503})
        for code, after, answer in codes['writes']:
            if code == 503:
                self.assertEqual((after, answer['reason']), ('1', 'ServiceUnavailable'), answer)
        self.assertIn('runner ended plugin=' + stable.NAME, server.text())
        # The controller continues, with objects that it has seen before and with new ones.
        self.assertEqual(server.request('POST', stable.SHELVES, stable.shelf('last'))[0], 201)
        self.assertTrue(wait_for(lambda: server.request('POST', stable.BOXES, stable.box('one', 'last'))[0] == 201))
        self.assertTrue(wait_for(lambda: server.request('GET', stable.SHELVES + '/last')[2].get('status', {}).get('boxes') == 1))

    @unittest.skipIf(is_sanitized(), 'the sanitizer says it in its own way')
    def test_a_crash_is_attributed_and_the_server_goes_on(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        pid = self.pid()
        code, headers, answer = server.request('GET', '/points/crash')
        self.assertEqual((code, headers['Retry-After'], answer['reason']), (503, '1', 'ServiceUnavailable'))
        self.restarted(pid)
        self.assertIn('plugin=' + points.NAME, [line for line in server.text().splitlines() if 'fatal signal=SIGABRT' in line][0])
        self.assertRegex(self.status()['lastCrash'], r'^SIGABRT in handle\(\) at .*/points\.so\+0x')
        self.assertEqual(server.request('GET', '/points/flag/secure-port')[0], 200)
        # The hook of startup has run again.
        self.assertIn('[+]points ok', server.request('GET', '/readyz?verbose')[2])
        self.make_point('after')

    def test_a_call_that_does_not_return_ends_the_process_alone(self):
        points.build(self.folder)
        server = self.serve(POINTS, '--plugin-runner-timeout=500ms')
        pid = self.pid()
        self.assertEqual(server.request('GET', '/points/hang')[0], 503)
        self.restarted(pid)
        self.assertIn('it has not returned from handle() within 3 s', server.text())
        self.assertEqual(server.request('GET', '/points/flag/secure-port')[0], 200)
        # A stopped process (SIGSTOP) does not respond at all.
        pid = self.pid()
        os.kill(pid, signal.SIGSTOP)
        headers, _ = self.make_point('while-stopped', 503)
        self.assertEqual(headers['Retry-After'], '1')
        self.assertEqual(server.request('GET', points.POINTS)[0], 200)
        self.restarted(pid, 2)
        self.make_point('after')
        self.assertEqual(server.terminate(), 0)

    @unittest.skipIf(is_sanitized(), 'the sanitizer says it in its own way')
    def test_repeated_crashes_end_in_a_quarantine_that_a_reload_lifts(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        for restarts in range(1, 6):
            pid = self.pid()
            server.request('GET', '/points/crash')
            if restarts < 5:
                self.restarted(pid, restarts)
        self.assertTrue(wait_for(lambda: 'runner quarantined' in server.text()))
        self.assertIn('quarantine', self.make_point('refused', 503)[1]['message'])
        self.assertEqual(server.request('GET', points.POINTS)[0], 200)
        self.assertEqual(server.request('GET', LEASES)[0], 200)
        with open(os.path.join(server.dir, 'data', 'plugins.json'), encoding='utf-8') as f:
            self.assertEqual([each['plugin'] for each in json.load(f)['crashes']], [points.NAME])
        subprocess.run([BINARY, 'plugin', 'reload', points.NAME, '--kubeconfig', server.kubeconfig], check=True, capture_output=True)
        self.make_point('again')

    @unittest.skipUnless(stable.GCC, 'no gcc')
    def test_a_quarantine_is_shown_and_lifted_by_enable_or_reload(self):
        stable.compiled(self.folder, 'stable-c', 'gcc', '-std=c11', '-O2')
        server = self.serve(STOCK, name=stable.NAME)

        def plugin(*args):
            return subprocess.run([BINARY, 'plugin', *args, '--kubeconfig', server.kubeconfig], capture_output=True, text=True, check=True).stdout
        for action in ('enable', 'reload'):
            for restarts in range(1, 6):
                pid = self.pid()
                os.kill(pid, signal.SIGKILL)
                if restarts < 5:
                    self.restarted(pid, restarts)
            self.assertTrue(wait_for(lambda: 'quarantinedUntil' in self.status()))
            listed = plugin('list')
            self.assertIn('in quarantine until ' + self.status()['quarantinedUntil'], listed)
            self.assertRegex(listed, r'(?m)^%s +\S+ +Quarantined ' % re.escape(stable.NAME))
            plugin(action, stable.NAME)
            self.assertNotIn('quarantinedUntil', self.status())
            self.assertEqual(self.status()['state'], 'Committed')
            self.assertEqual(server.request('POST', stable.SHELVES, stable.shelf('after-' + action))[0], 201)
            # The next start loads it, too.
            with open(os.path.join(server.dir, 'data', 'plugins.json'), encoding='utf-8') as f:
                self.assertEqual(json.load(f).get('crashes', []), [])

    def test_a_reload_replaces_the_process_and_a_disabled_plugin_has_none(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        pid = self.pid()
        subprocess.run([BINARY, 'plugin', 'reload', points.NAME, '--kubeconfig', server.kubeconfig], check=True, capture_output=True)
        now = self.pid()
        self.assertNotEqual(now, pid)
        self.make_point('after')
        self.assertTrue(wait_for(lambda: not alive(pid)))
        # If a new build does not start, the former one stays in service.
        points.build(self.folder, 'crash')
        failed = subprocess.run([BINARY, 'plugin', 'reload', points.NAME, '--kubeconfig', server.kubeconfig], check=False, capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn('SIGABRT', failed.stdout + failed.stderr)
        self.assertEqual(self.pid(), now)
        self.make_point('still')
        subprocess.run([BINARY, 'plugin', 'disable', points.NAME, '--kubeconfig', server.kubeconfig], check=True, capture_output=True)
        self.assertTrue(wait_for(lambda: not alive(now)))
        self.assertEqual(server.terminate(), 0)

    def test_it_ends_with_the_server(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        pid = self.pid()
        server.process.kill()
        self.assertTrue(wait_for(lambda: not alive(pid)))

    def test_the_hook_of_shutdown_runs(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        pid = self.pid()
        self.assertEqual(server.terminate(), 0)
        self.assertIn('the points are put away', server.text())
        self.assertFalse(alive(pid))


class Hanging(Case):
    """A runner that is stopped does not respond: calls of its kinds wait for two seconds, then it is killed and restarted."""

    def call(self, work, results):
        begun = time.monotonic()
        code, headers, answer = work()
        results.append((code, time.monotonic() - begun, headers.get('Retry-After'), answer))

    def during(self, works, at_once):
        """Runs `works` at once in threads, and requests of another group until all have ended: both results."""
        server, done, others, calls = self.server, threading.Event(), [], []

        def ask(n):
            connection, i = server.connect(), 0
            while not done.is_set():
                i += 1
                lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'lease-%d-%d' % (n, i)}, 'spec': {}}
                self.call(lambda: server.request('POST', LEASES, lease, connection=connection), others)  # pylint: disable=cell-var-from-loop
                self.call(lambda: server.request('GET', LEASES + '/lease-%d-1' % n, connection=connection), others)  # pylint: disable=cell-var-from-loop
                time.sleep(0.005)
            connection.close()
        asking = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
        calling = [threading.Thread(target=self.call, args=(work, calls)) for work in works]
        for each in asking:
            each.start()
        time.sleep(0.3)
        at_once()
        begun = len(others)
        for each in calling:
            each.start()
        for each in calling:
            each.join()
        done.set()
        for each in asking:
            each.join()
        return others[begun:], calls

    def check_others(self, others):
        self.assertEqual({code for code, *_ in others} - {200, 201}, set())
        times = sorted(seconds for _, seconds, *_ in others)
        print('other group: %d requests, p50 %.1f ms, p99 %.1f ms, most %.1f ms' %
              (len(times), times[len(times) // 2] * 1e3, times[len(times) * 99 // 100] * 1e3, times[-1] * 1e3), file=sys.stderr)
        self.assertGreater(len(times), 100)
        self.assertLess(times[len(times) * 99 // 100], 0.5)
        self.assertLess(times[-1], 1.5)

    @unittest.skipUnless(stable.GCC, 'no gcc')
    def test_other_groups_answer_while_creates_of_its_kind_wait(self):
        stable.compiled(self.folder, 'stable-c', 'gcc', '-std=c11', '-O2')
        server = self.serve(STOCK, name=stable.NAME)
        pid, late = self.pid(), []
        create = [lambda i=i: server.request('POST', stable.SHELVES, stable.shelf('made-%d' % i)) for i in range(64)]

        def create_later():
            time.sleep(1.3)
            self.call(lambda: server.request('POST', stable.SHELVES, stable.shelf('late')), late)
            return 503, {}, {}
        others, calls = self.during([*create, create_later], lambda: os.kill(pid, signal.SIGSTOP))
        self.check_others(others)
        for code, _, after, answer in calls:
            if code != 201 and answer:
                self.assertEqual((code, after, answer['reason']), (503, '1', 'ServiceUnavailable'), answer)
        # No call has been answered for a second, so new calls fail at once.
        self.assertEqual(late[0][0], 503)
        self.assertLess(late[0][1], 0.6)
        self.assertIn('does not answer', late[0][3]['message'])
        self.restarted(pid)
        self.assertEqual(server.request('POST', stable.SHELVES, stable.shelf('after'))[0], 201)

    def test_other_groups_answer_while_conversions_wait(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        v2 = points.POINTS.replace('/v1/', '/v2/')
        for i in range(8):
            self.make_point('p%d' % i)
        pid = self.pid()
        reads = [lambda i=i: server.request('GET', v2 + ('/p%d' % (i % 8) if i % 2 else '')) for i in range(16)]
        tables = [lambda: server.request('GET', v2, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})] * 4
        status = '{"status":{"seen":2}}'
        patches = [lambda i=i: server.request('PATCH', points.POINTS + '/p%d/status' % i, status, headers=points.MERGE) for i in range(8)]
        updates = [lambda i=i: server.request('PATCH', v2 + '/p%d' % i, '{"spec":{"row":7}}', headers=points.MERGE) for i in range(8)]
        others, calls = self.during([*reads, *patches, *updates, *tables], lambda: os.kill(pid, signal.SIGSTOP))
        self.check_others(others)
        self.assertIn(503, {code for code, *_ in calls})
        self.restarted(pid)
        self.assertEqual(server.request('GET', v2)[0], 200)

    def test_many_writes_at_once_all_end(self):
        points.build(self.folder)
        server = self.serve(POINTS)
        codes = []

        def write(n):
            for i in range(5):
                codes.append(server.request('POST', points.POINTS, {'apiVersion': 'points.example.com/v1', 'kind': 'Point',
                                                                    'metadata': {'name': 'many-%d-%d' % (n, i)}, 'spec': {'x': 1}})[0])
        threads = [threading.Thread(target=write, args=(n,)) for n in range(32)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(set(codes), {201})
        self.assertEqual(self.status()['restarts'], 0)


class Dependants(Case):
    """A plugin that another one requires, both in runners: a reload replaces both processes."""

    def test_a_reload_replaces_the_process_of_the_dependant(self):
        stable.compiled(self.folder, 'stable-c', 'gcc', '-std=c11', '-O2')
        points.build(self.folder, manifest={'requires': [{'name': stable.NAME}]})
        server = self.serve(STOCK, POINTS)
        former = {name: status_of(server, name)['pid'] for name in (stable.NAME, points.NAME)}

        def plugin(*args, code=0):
            done = subprocess.run([BINARY, 'plugin', *args, '--kubeconfig', server.kubeconfig], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done.stdout + done.stderr
        self.assertIn('reloaded with it, because they depend on it: ' + points.NAME, plugin('reload', stable.NAME))
        for name, pid in former.items():
            self.assertNotIn(status_of(server, name)['pid'], (0, pid))
            self.assertTrue(wait_for(lambda: not alive(pid)))  # pylint: disable=cell-var-from-loop
        self.make_point('after')
        self.assertIn('plugin "%s" requires it' % points.NAME, plugin('disable', stable.NAME, code=1))
        plugin('disable', stable.NAME, '--cascade')
        self.assertEqual([status_of(server, name)['state'] for name in former], ['Disabled'] * 2)
        refused = plugin('enable', points.NAME, code=1)
        self.assertIn('PLG-DEP-003', refused)
        self.assertIn('backplane plugin enable ' + stable.NAME, refused)
        plugin('enable', stable.NAME)
        plugin('enable', points.NAME)


class Starting(Case):
    def test_a_plugin_that_fails_or_crashes_is_left_out_and_says_why(self):
        for fault, words in (('entry', 'the plugin\'s constructor failed: it fails on purpose'), ('provision', 'provision() failed: it fails on purpose'),
                             ('short_table', 'the plugin\'s table has no provision()'), ('entry_crash', 'SIGABRT in constructor'),
                             ('crash', 'SIGABRT in provision()')):
            if is_sanitized() and 'crash' in fault:
                continue
            with self.subTest(fault):
                points.build(self.folder, fault)
                with Server('--plugin-dir=' + self.folder, POINTS, plugin_dir=PLUGINS) as server:
                    self.assertIn(words, server.text())
                    self.assertEqual(server.request('GET', '/apis/points.example.com/v1')[0], 404)
                    self.assertEqual(server.request('GET', LEASES)[0], 200)

    def refused(self, *flags):
        with tempfile.TemporaryDirectory() as data:
            command = [BINARY, '--data-dir=' + data, '--secure-port=0', '--plugin-dir=' + PLUGINS, *flags]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        return done.stdout + done.stderr

    def test_wrong_placements_are_refused(self):
        self.assertIn('--plugin-placement: "core" must be NAME=PLACE', self.refused('--plugin-placement=core'))
        self.assertIn('--plugin-placement: "moon" of plugin "core" must be in-process or runner', self.refused('--plugin-placement=core=moon'))
        self.assertIn('names plugin "a" twice', self.refused('--plugin-placement=a=runner', '--plugin-placement=a=in-process'))
        self.assertIn('the plugin is of the native tier, which runs in the server\'s process only', self.refused('--plugin-placement=core=runner'))
        self.assertIn('--plugin-runner-timeout: must be between 100ms and 10m', self.refused('--plugin-runner-timeout=1ms'))

    def test_the_runner_command_is_refused_to_users(self):
        done = subprocess.run([BINARY, 'plugin', 'runner', 'a', 'b', 'c', 'd'], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, 'the server starts it' in done.stderr), (1, True))


if __name__ == '__main__':
    unittest.main()

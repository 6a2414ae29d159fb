"""Plugins that fail in a call, in every way: one build, its fault written into a copy of its file.  The server always serves the rest: a
plugin whose fault a probe or a call detects is rejected at once, a plugin that crashes the server at the next startup."""
import glob
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import PLUGINS, Server, is_sanitized, main, wait_for  # pylint: disable=wrong-import-position

WRONG = os.environ['WRONG']
TIMED_OUT, PROBE, QUARANTINE, SAFE_MODE = 'PLG-LIFE-014', 'PLG-LIFE-015', 'PLG-LIFE-016', 'PLG-LIFE-017'

# Fault → the code of the rejection, and a part of the message.
LEFT_OUT = {
    'segv in load': (PROBE, 'the static initializers ended the process with SIGSEGV'),
    'abort in load': (PROBE, 'SIGABRT'),
    'throw in load': (PROBE, 'SIGABRT'),
    'exit in load': (PROBE, 'with code 3'),
    'exit0 in load': (PROBE, 'with code 0'),
    'recurse in load': (PROBE, 'SIGSEGV'),
    'terminate in load': (PROBE, 'SIGABRT'),
    'loop in load': (PROBE, 'has not returned within'),
    'segv in constructor': (PROBE, 'the constructor ended the process with SIGSEGV'),
    'abort in constructor': (PROBE, 'SIGABRT'),
    'exit in constructor': (PROBE, 'with code 3'),
    'exit0 in constructor': (PROBE, 'with code 0'),
    'recurse in constructor': (PROBE, 'SIGSEGV'),
    'terminate in constructor': (PROBE, 'SIGABRT'),
    'loop in constructor': (PROBE, 'has not returned within'),
    'segv in destructor': (PROBE, 'the destructor ended the process with SIGSEGV'),
    'throw in destructor': (PROBE, 'SIGABRT'),
    'loop in destructor': (PROBE, 'has not returned within'),
    'throw in constructor': ('PLG-LIFE-004', 'thrown on purpose'),
    'throw7 in constructor': ('PLG-LIFE-004', ''),
    'fail in configure': ('PLG-LIFE-006', 'refused on purpose'),
    'throw in configure': ('PLG-LIFE-007', 'thrown on purpose'),
    'throw7 in configure': ('PLG-LIFE-007', ''),
    'loop in configure': (TIMED_OUT, 'configure() has not returned within 5 s'),
    'fail in provision': ('PLG-LIFE-008', 'refused on purpose'),
    'throw in provision': ('PLG-LIFE-009', 'thrown on purpose'),
    'throw7 in provision': ('PLG-LIFE-009', ''),
    'loop in provision': (TIMED_OUT, 'provision() has not returned within 5 s'),
    'fail in validate': ('PLG-LIFE-010', 'refused on purpose'),
    'throw in validate': ('PLG-LIFE-011', 'thrown on purpose'),
    'throw7 in validate': ('PLG-LIFE-011', ''),
    'loop in validate': (TIMED_OUT, 'validate() has not returned within 5 s'),
    'twice group': ('PLG-LIFE-012', 'already registered'),
    'twice path': ('PLG-LIFE-012', 'already registered'),
    'twice hook': ('PLG-LIFE-012', 'already registered'),
    'twice check': ('PLG-LIFE-012', 'already registered'),
    'twice admission': ('PLG-LIFE-012', 'already registered'),
    'twice authorizer': ('PLG-LIFE-012', 'already registered'),
    'taken group': ('PLG-LIFE-012', 'already registered by core'),
    'no group': ('PLG-LIFE-008', ''),
    'no path': ('PLG-LIFE-008', ''),
    'no hook': ('PLG-LIFE-008', ''),
    'no check': ('PLG-LIFE-008', ''),
    'no admission': ('PLG-LIFE-008', ''),
    'no authorizer': ('PLG-LIFE-008', ''),
}
# These end the process: the signal, and the call that the record names.
CRASHES = {
    'segv in configure': (signal.SIGSEGV, 'configure()'),
    'abort in provision': (signal.SIGABRT, 'provision()'),
    'recurse in provision': (signal.SIGSEGV, 'provision()'),
    'terminate in provision': (signal.SIGABRT, 'provision()'),
    'segv in validate': (signal.SIGSEGV, 'validate()'),
    'segv in task': (signal.SIGSEGV, ''),
    'abort in hook': (signal.SIGABRT, ''),
}
# These are harmless.
HARMLESS = ('threads in constructor', 'throw in hook', 'throw in finish', 'none')


def write(folder, fault, name=None):
    """A copy of the plugin with this fault, under a unique name."""
    name = name or 'wrong.example.com/' + fault.replace(' ', '-')
    with open(WRONG, 'rb') as f:
        data = f.read()
    old = re.search(rb'\{"description":"The note has room[^}]*\}', data)[0]
    data = data.replace(old, json.dumps({'name': name, 'version': '1.0.0'}).encode().ljust(len(old)))
    room = re.search(rb'FAULT=[^\0]*', data)[0]
    data = data.replace(room, ('FAULT=' + fault).encode().ljust(len(room)))
    path = os.path.join(folder, fault.replace(' ', '-') + '.so')
    with open(path + '.new', 'wb') as f:
        f.write(data)
    os.rename(path + '.new', path)
    return name


class WrongCalls(unittest.TestCase):
    def setUp(self):
        if is_sanitized():
            self.skipTest('the sanitizer has the signals, and its shadow the stack')
        self.folder = tempfile.mkdtemp(prefix='backplane-wrong-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = tempfile.mkdtemp(prefix='backplane-wrong-data-')
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        for path in glob.glob(os.path.join(PLUGINS, '*.so')):
            os.symlink(path, os.path.join(self.folder, os.path.basename(path)))

    def server(self, *flags, **options):
        server = Server(*flags, plugin_dir=self.folder, data_dir=self.data, **options)
        self.addCleanup(server.stop)
        return server

    def begin(self):
        """Another server, with a plugin folder without faults and an empty data directory."""
        self.doCleanups()
        self.setUp()

    def statuses(self, server):
        return {each['name']: each for each in server.request('GET', '/plugins')[2]['plugins']}

    def serves(self, server):
        self.assertEqual(server.request('GET', '/api/v1/namespaces/default')[0], 200)
        self.assertEqual(server.request('GET', '/apis/apps/v1/deployments')[0], 200)

    def codes(self, status):
        return [finding['code'] for finding in status['findings']]

    def test_what_can_be_found_out_is_left_out_and_the_rest_is_served(self):
        names = {fault: write(self.folder, fault) for fault in LEFT_OUT}
        server = self.server('--plugin-call-timeout=5s')
        self.serves(server)
        statuses = self.statuses(server)
        for fault, (code, words) in LEFT_OUT.items():
            with self.subTest(fault):
                status = statuses[names[fault]]
                self.assertIn(status['state'], ('Failed', 'Rejected'))
                self.assertIn(code, self.codes(status), status)
                self.assertIn(words, ' '.join(finding['message'] for finding in status['findings']))
                self.assertTrue(re.search('plugin not loaded plugin=%s .*%s' % (names[fault], code), server.text()))
        self.assertEqual(server.terminate(timeout=120), 0, 'calls that do not return do not hold the process')

    def test_what_crashes_the_server_is_left_out_by_the_next_start(self):
        for fault, (number, call) in CRASHES.items():
            with self.subTest(fault):
                self.begin()
                name = write(self.folder, fault)
                crashed = self.server(wait=False)
                self.assertEqual(crashed.process.wait(120), -number, crashed.text()[-3000:])
                lines = [line for line in crashed.text().splitlines() if line.startswith('fatal signal=')]
                self.assertEqual(len(lines), 1, crashed.text()[-3000:])
                self.assertIn('plugin=' + name, lines[0])
                server = self.server()
                self.serves(server)
                status = self.statuses(server)[name]
                self.assertEqual((status['state'], self.codes(status)), ('Disabled', [QUARANTINE]))
                message = status['findings'][0]['message']
                self.assertRegex(message, r'left out until \d{4}-.*Z: it crashed the server at \d{4}-')
                self.assertIn('in ' + call if call else 'SIG', message)
                self.assertIn(message, server.text())

    def test_another_file_and_the_command_lift_it(self):
        name = write(self.folder, 'segv in validate')
        self.assertEqual(self.server(wait=False).process.wait(120), -signal.SIGSEGV)
        server = self.server()
        self.assertEqual(self.codes(self.statuses(server)[name]), [QUARANTINE])
        server.stop()
        path = os.path.join(self.folder, 'segv-in-validate.so')
        write(self.folder, 'none', name)
        os.rename(os.path.join(self.folder, 'none.so'), path)
        server = self.server()
        self.assertEqual(self.statuses(server)[name]['state'], 'Committed')
        self.assertEqual(server.request('GET', '/wrong/none')[0], 200)

    def test_a_request_that_crashes_the_server_leaves_the_plugin_out_until_it_is_enabled(self):
        name = write(self.folder, 'segv in request')
        server = self.server()
        try:
            server.request('GET', '/wrong/segv-in-request')
        except OSError:
            pass
        self.assertEqual(server.process.wait(60), -signal.SIGSEGV)
        server = self.server()
        self.assertEqual(self.codes(self.statuses(server)[name]), [QUARANTINE])
        self.assertEqual(server.request('GET', '/wrong/segv-in-request')[0], 404)
        code, _, acted = server.request('POST', '/plugins/enable', {'name': name})
        self.assertEqual(code, 200, acted)
        self.assertEqual(self.statuses(server)[name]['state'], 'Committed')
        server.stop()
        self.assertEqual(self.statuses(self.server())[name]['state'], 'Committed', 'the command has lifted it')

    def test_what_does_no_harm_runs(self):
        for fault in HARMLESS:
            with self.subTest(fault):
                self.begin()
                name = write(self.folder, fault)
                server = self.server(wait='hook' not in fault)
                if 'hook' in fault:
                    self.assertTrue(wait_for(lambda: 'export KUBECONFIG=' in server.text()))
                    server.read_kubeconfig()
                self.serves(server)
                self.assertEqual(self.statuses(server)[name]['state'], 'Committed')
                self.assertIn(server.terminate(timeout=120), (0, 1))

    def test_a_wrong_file_is_not_loaded_into_a_running_server(self):
        name = write(self.folder, 'none', 'wrong.example.com/changed')
        server = self.server('--plugin-call-timeout=5s')
        for fault, words in (('segv in load', 'SIGSEGV'), ('loop in constructor', 'has not returned'), ('loop in validate', 'validate() has not'),
                             ('throw in provision', 'thrown on purpose'), ('fail in configure', 'refused on purpose'),
                             ('fail in hook', 'refused on purpose')):
            with self.subTest(fault):
                write(self.folder, fault, name)
                body = {'name': name, 'file': os.path.join(self.folder, fault.replace(' ', '-') + '.so')}
                code, _, status = server.request('POST', '/plugins/upgrade', body)
                self.assertGreaterEqual(code, 400)
                self.assertIn(words, status['message'])
                self.assertEqual(server.request('GET', '/wrong/none')[0], 200, 'the former build serves')
        self.assertEqual(self.statuses(server)[name]['build'], 1)

    def test_safe_mode_by_flag_by_environment_and_after_three_crashes(self):
        name = write(self.folder, 'none')
        for flags, env in ((['--safe-mode'], {}), ([], {'BACKPLANE_SAFE_MODE': '1'})):
            server = self.server(*flags, env=env)
            self.serves(server)
            status = self.statuses(server)[name]
            self.assertEqual((status['state'], self.codes(status)), ('Disabled', [SAFE_MODE]))
            self.assertEqual(server.terminate(), 0)
        # Each crash is caused by another plugin, so that no plugin is disabled yet.
        for fault in ('segv in configure', 'abort in provision', 'segv in validate'):
            write(self.folder, fault)
            self.assertLess(self.server(wait=False).process.wait(120), 0)
        crashing = write(self.folder, 'recurse in provision')
        server = self.server('--require-plugin=' + name)
        self.serves(server)
        self.assertIn('safe mode: only the plugins that are shipped', server.text())
        statuses = self.statuses(server)
        self.assertEqual(self.codes(statuses[crashing]), [SAFE_MODE])
        self.assertEqual(statuses[name]['state'], 'Committed', 'the server must not run without it')

    def test_a_file_is_probed_once(self):
        write(self.folder, 'none')
        self.server().stop()
        with open(os.path.join(self.data, 'data', 'plugins.json'), encoding='utf-8') as f:
            probed = json.load(f)['probed']
        self.assertEqual(len(probed), 1)
        self.server().stop()
        with open(os.path.join(self.data, 'data', 'plugins.json'), encoding='utf-8') as f:
            self.assertEqual(json.load(f)['probed'], probed)


if __name__ == '__main__':
    main()

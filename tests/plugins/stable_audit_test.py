"""Audit sinks of the stable tier in the built server, by a plugin in C, in the server's process and in a runner; and in C++."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

import stable_test as stable  # pylint: disable=wrong-import-position
from harness import PLUGINS, Server, configmap, is_sanitized, wait_for  # pylint: disable=wrong-import-position

HERE = os.path.dirname(os.path.abspath(__file__))
MAPS = '/api/v1/namespaces/default/configmaps'
NAME = 'test.example.com/audit-sinks'
EVERYTHING = {'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'omitManagedFields': True, 'rules': [{'level': 'RequestResponse'}]}
IN_CPP = r'''
#include <backplane/stable/plugin.hpp>
#include <fstream>
using namespace backplane::stable;
class Sinks final : public Plugin {
  void provision(Host& host) override {
    add_audit_sink(host, {.name = "cpp",
                          .write = [](const std::vector<std::string_view>& events) {
                            std::ofstream file(AUDIT_FOLDER "/whole", std::ios::app);
                            if (!file) throw Error("the file cannot be opened", "ServiceUnavailable");
                            for (const auto each : events) file << each << '\n';
                          },
                          .flush = [] { std::ofstream(AUDIT_FOLDER "/flushed") << "flushed\n"; },
                          .omit_stages = BP_AUDIT_REQUEST_RECEIVED});
  }
};
BACKPLANE_STABLE_PLUGIN(Sinks, "audit.json")
'''


def build(folder, data, fault=''):
    out = os.path.join(folder, 'audit-sinks.so')
    subprocess.run([os.environ.get('CC', 'gcc'), '-std=c11', *stable.SHARED, '-DAUDIT_FAULT="%s"' % fault, '-DAUDIT_FOLDER="%s"' % data,
                    '-I', os.path.join(HERE, 'stable'), '-o', out, os.path.join(HERE, 'stable/audit.c')], check=True)


class Case(unittest.TestCase):
    flags = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-audit-plugin-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = tempfile.mkdtemp(prefix='backplane-audit-events-')
        self.addCleanup(shutil.rmtree, self.data)

    def serve(self, *flags):
        self.server = Server('--plugin-dir=' + self.folder, *self.flags, *flags, plugin_dir=PLUGINS)
        self.addCleanup(self.server.stop)
        return self.server

    def lines(self, name):
        path = pathlib.Path(self.data, name)
        return path.read_text(encoding='utf-8').splitlines() if path.exists() else []

    def events(self, name, audit_id=None):
        found = [json.loads(line) for line in self.lines(name)]
        return [each for each in found if audit_id in (None, each['auditID'])]

    def call(self, method, path, body=None, code=200):
        got, headers, answer = self.server.request(method, path, body)
        self.assertEqual(got, code, '%s\n%s' % (answer, self.server.text()[-3000:]))
        return headers['Audit-Id']

    def wait_events(self, name, audit_id, count):
        self.assertTrue(wait_for(lambda: len(self.events(name, audit_id)) >= count), '%s\n%s' % (self.lines(name), self.server.text()[-3000:]))
        return self.events(name, audit_id)

    def send_command(self, name):
        pathlib.Path(self.data, name).touch()


class Sinks(Case):
    def test_events_are_those_of_the_log_backend_in_their_order(self):
        policy, log = (os.path.join(self.data, each) for each in ('policy.json', 'log'))
        pathlib.Path(policy).write_text(json.dumps(EVERYTHING), encoding='utf-8')
        build(self.folder, self.data)
        server = self.serve('--audit-policy-file=' + policy, '--audit-log-path=' + log)
        made = self.call('POST', MAPS, configmap('a', x='<1>'), 201)
        self.call('GET', MAPS + '/nothing', code=404)
        first, last = self.wait_events('whole', made, 2)
        self.assertEqual([first['stage'], last['stage']], ['RequestReceived', 'ResponseComplete'])
        self.assertEqual((first['kind'], first['apiVersion'], last['level']), ('Event', 'audit.k8s.io/v1', 'RequestResponse'))
        self.assertEqual(last['requestObject']['data'], {'x': '<1>'})
        self.assertEqual(last['responseObject']['metadata']['name'], 'a')
        self.assertNotIn('managedFields', last['responseObject']['metadata'])
        self.assertEqual(last['responseStatus']['code'], 201)
        end, = self.wait_events('ends', made, 1)
        self.assertEqual((end['stage'], end['level'], 'requestObject' in end), ('ResponseComplete', 'Metadata', False))
        self.assertEqual(server.terminate(), 0, server.text()[-3000:])
        self.assertEqual(self.lines('flushed'), ['flushed'])
        self.assertEqual(sorted(self.lines('whole')), sorted(self.lines('log')))
        self.assertNotIn('may call the server', server.text())

    def test_events_are_written_again_while_the_plugin_refuses_with_service_unavailable(self):
        build(self.folder, self.data)
        server = self.serve()
        self.send_command('unavailable')
        asked = self.call('GET', MAPS)
        self.wait_events('whole', asked, 2)
        self.wait_events('ends', asked, 1)
        self.assertNotIn('Error in audit plugin', server.text())
        self.send_command('refuse')
        self.assertTrue(wait_for(lambda: (self.call('GET', MAPS), 'the disk is full' in server.text())[1]))
        self.assertRegex(server.text(), r"Error in audit plugin '(whole|ends)' affecting \d+ audit events: the disk is full")
        metrics = server.request('GET', '/metrics')[2]
        self.assertRegex(metrics, r'apiserver_audit_error_total\{plugin="(whole|ends)"\} [1-9]')

    def test_a_sink_that_blocks_delays_no_request_and_its_queue_is_bounded(self):
        build(self.folder, self.data, 'slow')
        server = self.serve()
        for _ in range(20):
            self.call('GET', MAPS)
        self.assertIn("Error in audit plugin 'whole' affecting 1 audit events: its queue is full", server.text())
        self.send_command('go')
        self.assertTrue(wait_for(lambda: self.lines('whole')))
        self.assertTrue(wait_for(lambda: self.events('whole', self.call('GET', MAPS))))

    def test_a_reload_flushes_the_replaced_plugin_and_loses_no_event(self):
        build(self.folder, self.data)
        server = self.serve()
        ids = [self.call('GET', MAPS)]
        subprocess.run([stable.BINARY, 'plugin', 'reload', NAME, '--kubeconfig', server.kubeconfig], check=True, capture_output=True)
        ids.append(self.call('GET', MAPS))
        self.assertTrue(wait_for(lambda: self.lines('flushed')), server.text()[-3000:])
        for each in ids:
            self.wait_events('whole', each, 2)

    def test_wrong_registrations_are_refused(self):
        for fault, words in (('level', 'the level of an audit sink must be BP_AUDIT_METADATA, BP_AUDIT_REQUEST or BP_AUDIT_REQUEST_RESPONSE'),
                             ('twice', 'audit whole is already registered by ' + NAME)):
            with self.subTest(fault):
                build(self.folder, self.data, fault)
                with Server('--plugin-dir=' + self.folder, *self.flags, plugin_dir=PLUGINS) as server:
                    self.assertIn(words, server.text())


class SinksInARunner(Sinks):
    flags = ('--plugin-placement=audit-sinks=runner',)

    def pid(self):
        found = [each for each in self.server.request('GET', '/debug/plugins')[2]['plugins'] if each['name'] == NAME]
        return found[0].get('pid', 0) if found else 0

    @unittest.skipIf(is_sanitized(), 'the sanitizer says it in its own way')
    def test_the_next_process_gets_the_events_of_one_that_has_ended(self):
        build(self.folder, self.data)
        server = self.serve()
        former = self.pid()
        self.send_command('crash')
        crashed = self.call('GET', MAPS)
        self.wait_events('whole', crashed, 2)
        self.wait_events('ends', crashed, 1)
        self.assertNotEqual(self.pid(), former)
        self.assertIn('write() of an audit sink', server.text())
        os.kill(self.pid(), signal.SIGKILL)
        killed = self.call('GET', MAPS)
        self.wait_events('whole', killed, 2)
        self.assertNotIn('Error in audit plugin', server.text())


@unittest.skipUnless(stable.GCC, 'no gcc')
class InCpp(Case):
    def test_a_sink_in_cpp(self):
        source = os.path.join(self.data, 'sinks.cpp')
        pathlib.Path(source).write_text(IN_CPP, encoding='utf-8')
        subprocess.run(['g++', '-std=c++20', *stable.SHARED, '-fno-gnu-unique', '-DAUDIT_FOLDER="%s"' % self.data, '-I', os.path.join(HERE, 'stable'),
                        '-o', os.path.join(self.folder, 'audit-sinks.so'), source], check=True)
        server = self.serve()
        event, = self.wait_events('whole', self.call('GET', MAPS), 1)
        self.assertEqual((event['stage'], event['level']), ('ResponseComplete', 'Metadata'))
        self.assertEqual(server.terminate(), 0, server.text()[-3000:])
        self.assertEqual(self.lines('flushed'), ['flushed'])


if __name__ == '__main__':
    unittest.main()

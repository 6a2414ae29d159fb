"""Audit: policies, the log file, the webhook, and the effect of a failing backend on requests and shutdown."""
import http.server
import json
import os
import re
import stat
import subprocess
import tempfile
import threading
import time
import unittest

from harness import Server, configmap, main, wait_for

HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n'
# These tests ignore the server's own requests.
QUIET = '- level: None\n  users: ["system:apiserver"]\n'
METADATA = HEAD + 'rules:\n' + QUIET + '- level: Metadata\n'
MAPS = '/api/v1/namespaces/default/configmaps'


class Folder:
    """A policy file and a log in a folder of their own."""

    def __init__(self, policy):
        self.folder = tempfile.TemporaryDirectory(prefix='audit-')
        self.log = os.path.join(self.folder.name, 'audit.log')
        self.policy = self.write('policy.yaml', policy)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def flags(self, *more):
        return ('--audit-policy-file=' + self.policy, '--audit-log-path=' + self.log, *more)

    def events(self, path=None):
        try:
            with open(path or self.log, encoding='utf-8') as file:
                return [json.loads(line) for line in file.read().splitlines()]
        except FileNotFoundError:
            return []

    def of(self, audit_id, count):
        """The events of one request, in order, as soon as there are `count`."""
        def found():
            events = [event for event in self.events() if event['auditID'] == audit_id]
            return events if len(events) >= count else None
        return wait_for(found, 10) or []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


def metric(server, name):
    text = server.request('GET', '/metrics')[2]
    found = re.search(r'^' + re.escape(name) + r' (\S+)$', text, re.MULTILINE)
    return float(found[1]) if found else None


class Sink(http.server.ThreadingHTTPServer):
    """A webhook: keeps the events that it receives.  `behaviour`: ok, hang, fail or rubbish."""
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.behaviour = 'ok'
        self.lists = []
        self.calls = 0
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def kubeconfig(self, folder):
        return folder.write('webhook.kubeconfig', json.dumps({
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
            'clusters': [{'name': 's', 'cluster': {'server': 'http://127.0.0.1:%d/audit' % self.server_port}}],
            'contexts': [{'name': 'c', 'context': {'cluster': 's', 'user': 'u'}}],
            'users': [{'name': 'u', 'user': {'token': 'of-the-webhook'}}]}))

    def events(self):
        return [event for each in list(self.lists) for event in each['items']]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        sink = self.server
        sink.calls += 1
        sink.last = self.path, dict(self.headers)
        if sink.behaviour == 'hang':
            sink.released.wait()
        if sink.behaviour == 'rubbish':
            self.wfile.write(b'\0\1\2 rubbish')
            self.close_connection = True
            return
        if sink.behaviour == 'ok':
            sink.lists.append(json.loads(body))
        self.send_response(200 if sink.behaviour == 'ok' else 500)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


class Levels(unittest.TestCase):
    POLICY = HEAD + 'rules:\n' + QUIET + '''
- level: None
  nonResourceURLs: ["/healthz*", "/readyz*", "/metrics"]
- level: RequestResponse
  resources: [{group: "", resources: [configmaps]}]
  namespaces: [default]
- level: Request
  resources: [{group: "", resources: [secrets]}]
  omitStages: [RequestReceived]
- level: Metadata
  omitStages: [ResponseComplete]
  nonResourceURLs: ["/version"]
- level: Metadata
'''

    @classmethod
    def setUpClass(cls):
        cls.files = Folder(cls.POLICY)
        cls.server = Server(*cls.files.flags())

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.files.folder.cleanup()

    def ask(self, method, path, stages, body=None, code=None, headers=None, client_certificate=True):
        audit_id = 'test-%d' % time.monotonic_ns()
        answer = self.server.request(method, path, body, dict(headers or {}, **{'Audit-ID': audit_id, 'User-Agent': 'test'}),
                                     client_certificate=client_certificate)
        if code is not None:
            self.assertEqual(answer[0], code, answer)
        events = self.files.of(audit_id, len(stages))
        self.assertEqual([event['stage'] for event in events], stages, events)
        return events

    def test_the_file_is_readable_by_its_owner_only(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.files.log).st_mode), 0o600)

    def test_a_write_is_recorded_with_its_objects(self):
        received, complete = self.ask('POST', MAPS, ['RequestReceived', 'ResponseComplete'], configmap('levels', a='<1>'), 201)
        self.assertEqual(list(received), ['kind', 'apiVersion', 'level', 'auditID', 'stage', 'requestURI', 'verb', 'user', 'sourceIPs',
                                          'userAgent', 'objectRef', 'requestReceivedTimestamp', 'stageTimestamp'])
        self.assertEqual(complete['level'], 'RequestResponse')
        self.assertIn('system:masters', complete['user']['groups'])
        self.assertEqual(complete['objectRef']['name'], 'levels')
        self.assertEqual(complete['responseStatus'], {'metadata': {}, 'code': 201})
        self.assertEqual(complete['requestObject']['data'], {'a': '<1>'})
        self.assertEqual(complete['responseObject']['metadata']['name'], 'levels')
        self.assertEqual(complete['annotations']['authorization.k8s.io/decision'], 'allow')
        self.assertRegex(complete['stageTimestamp'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$')
        self.assertEqual(received['stageTimestamp'], received['requestReceivedTimestamp'])

    def test_a_patch_is_recorded_as_it_was_sent(self):
        self.server.request('POST', MAPS, configmap('patched'))
        events = self.ask('PATCH', MAPS + '/patched', ['RequestReceived', 'ResponseComplete'], '{\n "data": {"k": "v w"}\n}', 200,
                          {'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(events[1]['requestObject'], {'data': {'k': 'v w'}})

    def test_levels_and_stages_are_those_of_the_rule(self):
        secret = {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 's'}, 'stringData': {'k': 'v'}}
        complete, = self.ask('POST', '/api/v1/namespaces/default/secrets', ['ResponseComplete'], secret, 201)
        self.assertIn('requestObject', complete)
        self.assertNotIn('responseObject', complete)
        received, = self.ask('GET', '/version', ['RequestReceived'])
        self.assertNotIn('objectRef', received)
        events = self.ask('GET', '/api/v1/nodes/absent', ['RequestReceived', 'ResponseComplete'], code=404)
        self.assertEqual(events[1]['level'], 'Metadata')
        self.assertEqual(events[1]['responseStatus']['reason'], 'NotFound')
        self.assertEqual(events[1]['responseStatus']['details'], {'name': 'absent', 'kind': 'nodes'})
        self.ask('GET', '/healthz', [], code=200)

    def test_a_watch_has_an_event_when_its_response_starts(self):
        events = self.ask('GET', MAPS + '?watch=1&timeoutSeconds=1', ['RequestReceived', 'ResponseStarted', 'ResponseComplete'], code=200)
        self.assertEqual(events[0]['verb'], 'watch')
        self.assertEqual(events[1]['responseStatus'], {'metadata': {}, 'code': 200})

    def test_requests_that_are_refused_early_have_one_event(self):
        event, = self.ask('GET', '/api/v1/nodes', ['ResponseStarted'], code=401, headers={'Authorization': 'Bearer junk'},
                          client_certificate=False)
        self.assertEqual(event['user'], {})
        self.assertEqual(event['responseStatus'], {'metadata': {}, 'status': 'Failure', 'message': 'Unauthorized',
                                                   'reason': 'Unauthorized', 'code': 401})
        event, = self.ask('GET', '/api/v1/nodes?timeout=soon', ['ResponseStarted'], code=400)
        self.assertIn('invalid timeout specified in the request URL', event['responseStatus']['message'])

    def test_a_forbidden_request_says_so(self):
        events = self.ask('GET', '/api/v1/nodes', ['RequestReceived', 'ResponseComplete'], code=403, client_certificate=False)
        self.assertEqual(events[1]['annotations']['authorization.k8s.io/decision'], 'forbid')
        self.assertEqual(events[1]['user']['username'], 'system:anonymous')

    def test_events_are_counted(self):
        before = metric(self.server, 'apiserver_audit_event_total')
        self.ask('GET', MAPS, ['RequestReceived', 'ResponseComplete'], code=200)
        self.assertGreaterEqual(metric(self.server, 'apiserver_audit_event_total'), before + 2)
        self.assertGreater(metric(self.server, 'apiserver_audit_level_total{level="RequestResponse"}'), 0)
        self.assertGreater(metric(self.server, 'apiserver_audit_level_total{level="None"}'), 0)
        self.assertEqual(metric(self.server, 'apiserver_audit_requests_rejected_total'), 0)


class Logs(unittest.TestCase):
    def test_the_last_event_is_in_the_file_when_the_server_has_ended(self):
        with Folder(METADATA) as files, Server(*files.flags('--audit-log-mode=batch')) as server:
            for n in range(50):
                server.request('GET', MAPS, headers={'Audit-ID': 'n%d' % n})
            self.assertEqual(server.terminate(), 0, server.text())
            complete = [event['auditID'] for event in files.events() if event['stage'] == 'ResponseComplete']
            for n in range(50):
                self.assertIn('n%d' % n, complete)

    def test_files_are_rotated_and_compressed(self):
        with Folder(HEAD + 'rules:\n' + QUIET + '- level: RequestResponse\n') as files:
            flags = files.flags('--audit-log-maxsize=1', '--audit-log-maxbackup=2', '--audit-log-compress')
            with Server(*flags) as server:
                for n in range(16):
                    server.request('POST', MAPS, configmap('big-%d' % n, a='x' * 200000))

                def rotated():
                    names = [name for name in os.listdir(files.folder.name) if name.startswith('audit-')]
                    return names if len(names) == 2 and all(name.endswith('.log.gz') for name in names) else None
                names = wait_for(rotated, 30)
                self.assertTrue(names, os.listdir(files.folder.name))
                for name in names:
                    self.assertRegex(name, r'^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log\.gz$')
                    self.assertEqual(stat.S_IMODE(os.stat(os.path.join(files.folder.name, name)).st_mode), 0o600)
                    lines = subprocess.run(['gzip', '-dc', os.path.join(files.folder.name, name)], capture_output=True, check=True).stdout
                    for line in lines.splitlines():
                        json.loads(line)
                self.assertLessEqual(os.path.getsize(files.log), 1 << 20)

    def test_a_full_disk_fails_requests_in_strict_mode_only(self):
        policy = METADATA.replace('rules:\n', 'rules:\n- level: None\n  nonResourceURLs: ["*"]\n')
        with Folder(policy) as files:
            for mode, code in (('blocking', 200), ('blocking-strict', 500)):
                with Server('--audit-policy-file=' + files.policy, '--audit-log-path=/dev/full', '--audit-log-mode=' + mode) as server:
                    answer = server.request('GET', MAPS)
                    self.assertEqual(answer[0], code, answer)
                    if code == 500:
                        self.assertEqual(answer[2], 'Internal Server Error: "%s": failed to store audit event\n' % MAPS)
                        self.assertGreater(metric(server, 'apiserver_audit_requests_rejected_total'), 0)
                    self.assertGreater(metric(server, 'apiserver_audit_error_total{plugin="log"}'), 0)

    def test_large_events_lose_their_objects(self):
        with Folder(HEAD + 'rules:\n' + QUIET + '- level: RequestResponse\n') as files:
            with Server(*files.flags('--audit-log-truncate-enabled', '--audit-log-truncate-max-event-size=2000')) as server:
                server.request('POST', MAPS, configmap('large', a='x' * 3000), {'Audit-ID': 'large'})
                event = files.of('large', 2)[1]
                self.assertNotIn('requestObject', event)
                self.assertEqual(event['annotations']['audit.k8s.io/truncated'], 'true')

    def test_standard_output_and_the_legacy_format(self):
        with Folder(METADATA) as files:
            with Server('--audit-policy-file=' + files.policy, '--audit-log-path=-', '--audit-log-format=legacy') as server:
                server.request('GET', MAPS, headers={'Audit-ID': 'on-stdout'})
                line = wait_for(lambda: re.search(r'^\S+ AUDIT: id="on-stdout" stage="ResponseComplete" .* response="200"$', server.text(),
                                                  re.MULTILINE), 10)
                self.assertTrue(line, server.text())

    def refusal(self, *flags):
        with Server(*flags, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            return server.text()

    def test_what_is_wrong_makes_startup_fail(self):
        with Folder(METADATA) as files:
            bad = files.write('bad.yaml', HEAD + 'rules:\n- level: Some\n')
            text = self.refusal('--audit-policy-file=' + bad)
            self.assertIn('loading audit policy file: rules[0].level: Unsupported value: "Some"', text)
            self.assertIn('loading audit policy file: failed to read file path "/absent": open /absent: no such file or directory',
                          self.refusal('--audit-policy-file=/absent'))
            self.assertIn('ensureLogFile: open %s: is a directory' % files.folder.name,
                          self.refusal('--audit-policy-file=' + files.policy, '--audit-log-path=' + files.folder.name))
            self.assertIn('invalid audit log format xml, allowed formats are "legacy,json"', self.refusal(*files.flags('--audit-log-format=xml')))
            self.assertIn('initializing audit webhook: ',
                          self.refusal('--audit-policy-file=' + files.policy, '--audit-webhook-config-file=/absent'))

    def test_a_policy_without_a_backend_and_a_backend_without_a_policy_start(self):
        with Folder(METADATA) as files:
            with Server('--audit-policy-file=' + files.policy) as server:
                self.assertEqual(server.request('GET', MAPS)[0], 200)
            with Server('--audit-log-path=' + files.log) as server:
                server.request('GET', MAPS)
                self.assertEqual(server.terminate(), 0)
                self.assertEqual(files.events(), [])


class Webhooks(unittest.TestCase):
    def serve(self, files, sink, *flags):
        return Server('--audit-policy-file=' + files.policy, '--audit-webhook-config-file=' + sink.kubeconfig(files), *flags)

    def test_events_are_posted_in_lists_and_written_to_the_log_too(self):
        with Folder(METADATA) as files, Sink() as sink:
            with self.serve(files, sink, '--audit-log-path=' + files.log, '--audit-webhook-batch-max-wait=100ms') as server:
                server.request('GET', MAPS, headers={'Audit-ID': 'both'})
                found = wait_for(lambda: [event for event in sink.events() if event['auditID'] == 'both' and event['stage'] == 'ResponseComplete'], 20)
                self.assertTrue(found, server.text())
                self.assertEqual(list(sink.lists[0])[:2], ['kind', 'apiVersion'])
                self.assertEqual(sink.lists[0]['kind'], 'EventList')
                self.assertEqual(list(found[0])[0], 'level')
                self.assertEqual(len(files.of('both', 2)), 2)
                path, headers = sink.last
                self.assertEqual(path, '/audit?timeout=30s')
                self.assertEqual(headers['Content-Type'], 'application/json')

    def test_the_last_event_is_sent_before_the_server_ends(self):
        with Folder(METADATA) as files, Sink() as sink:
            with self.serve(files, sink) as server:
                server.request('GET', MAPS, headers={'Audit-ID': 'last'})
                self.assertEqual(server.terminate(), 0, server.text())
                self.assertIn('last', [event['auditID'] for event in sink.events()])

    def test_a_server_that_hangs_holds_nothing_up(self):
        with Folder(METADATA) as files, Sink() as sink:
            sink.behaviour = 'hang'
            flags = ('--audit-webhook-batch-max-size=1', '--audit-webhook-batch-buffer-size=10', '--audit-webhook-batch-throttle-enable=false')
            with self.serve(files, sink, *flags) as server:
                connection = server.connect()
                for _ in range(100):
                    self.assertEqual(server.request('GET', MAPS, connection=connection)[0], 200)
                connection.close()
                self.assertGreater(metric(server, 'apiserver_audit_error_total{plugin="buffered"}'), 0)
                began = time.monotonic()
                self.assertEqual(server.terminate(), 0, server.text())
                self.assertLess(time.monotonic() - began, 30)

    def test_calls_that_fail_are_repeated(self):
        with Folder(METADATA) as files, Sink() as sink:
            for behaviour in ('fail', 'rubbish'):
                sink.behaviour, sink.calls = behaviour, 0
                with self.serve(files, sink, '--audit-webhook-batch-max-wait=50ms', '--audit-webhook-initial-backoff=50ms') as server:
                    server.request('GET', MAPS)
                    self.assertTrue(wait_for(lambda: sink.calls >= 5, 30), sink.calls)
                    self.assertTrue(wait_for(lambda: metric(server, 'apiserver_audit_error_total{plugin="webhook"}'), 30))

    def test_blocking_requests_wait_for_the_server(self):
        with Folder(METADATA) as files, Sink() as sink:
            with self.serve(files, sink, '--audit-webhook-mode=blocking') as server:
                server.request('GET', MAPS, headers={'Audit-ID': 'blocking'})
                stages = [event['stage'] for event in sink.events() if event['auditID'] == 'blocking']
                self.assertEqual(stages, ['RequestReceived', 'ResponseComplete'], 'before the response')

    def test_strict_requests_fail_without_the_server(self):
        policy = METADATA.replace('rules:\n', 'rules:\n- level: None\n  nonResourceURLs: ["*"]\n')
        with Folder(policy) as files, Sink() as sink:
            flags = ('--audit-webhook-mode=blocking-strict', '--audit-webhook-initial-backoff=10ms')
            with self.serve(files, sink, *flags) as server:
                self.assertEqual(server.request('GET', MAPS)[0], 200)
                sink.behaviour = 'fail'
                self.assertEqual(server.request('GET', MAPS)[0], 500)


if __name__ == '__main__':
    main()

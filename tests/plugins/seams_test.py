"""Plugins that use various extension points, in the built server: one asks the authorizer, one mutates twice, one blocks, one publishes paths, one
seals objects in the store and converts them, one counts objects in the transaction of their writes."""
import concurrent.futures
import glob
import json
import os
import shutil
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))

from harness import PLUGINS, Server, is_sanitized, main, wait_for  # pylint: disable=wrong-import-position

SEAMS = os.environ['SEAMS']
CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'


def server_with(*names, flags=(), **options):
    folder = tempfile.mkdtemp(prefix='backplane-seams-')
    for path in glob.glob(os.path.join(PLUGINS, '*.so')):
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    for name in names:
        os.symlink(os.path.join(SEAMS, name + '.so'), os.path.join(folder, name + '.so'))
    server = Server(*flags, plugin_dir=folder, **options)
    stop = server.stop

    def stop_and_remove():
        stop()
        shutil.rmtree(folder, ignore_errors=True)
    server.stop = stop_and_remove
    return server


class AskingTheAuthorizer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server_with('gatekeeper')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def ask(self, query):
        code, _, text = self.server.request('GET', '/gatekeeper?' + query)
        self.assertEqual(code, 200, text)
        return text.split('|')

    def as_jane(self, path):
        return self.server.request('GET', path, headers={'Authorization': 'Bearer jane-token'}, client_certificate=False)

    def test_it_returns_the_decision_of_a_request(self):
        for query, path, decision, code in (
                ('user=jane&verb=get&resource=configmaps&namespace=team', '/api/v1/namespaces/team/configmaps/x', 'allow', 404),
                ('user=jane&verb=get&resource=secrets&namespace=team', '/api/v1/namespaces/team/secrets/x', 'no opinion', 403),
                ('user=jane&group=system:authenticated&verb=get&path=/version', '/version', 'allow', 200),
                ('user=jane&verb=get&path=/metrics', '/metrics', 'no opinion', 403)):
            self.assertEqual(self.ask(query)[0], decision, query)
            self.assertEqual(self.as_jane(path)[0], code, path)

    def test_the_superuser_is_not_asked_about(self):
        self.assertEqual(self.ask('user=root&group=system:masters&verb=delete&resource=nodes'), ['allow', '', ''])

    def test_selectors_decide_and_one_that_cannot_be_read_is_an_error(self):
        self.assertEqual(self.ask('user=jane&verb=list&resource=pods&fieldSelector=spec.nodeName%3Dn1')[0], 'allow')
        self.assertEqual(self.ask('user=jane&verb=list&resource=pods')[:2], ['no opinion', 'jane lists the pods of n1 only'])
        self.assertEqual(self.as_jane('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')[0], 200)
        code, _, refused = self.as_jane('/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')
        self.assertEqual(code, 403)
        self.assertTrue(refused['message'].endswith('at the cluster scope: jane lists the pods of n1 only'), refused['message'])
        code, _, text = self.as_jane('/api/v1/pods?fieldSelector=nonsense')
        self.assertEqual(code, 500)
        self.assertTrue(text.startswith('Internal Server Error: "/api/v1/pods?fieldSelector=nonsense": invalid selector'), text)

    def test_the_rules_of_all_authorizers_are_one_list(self):
        text = self.server.request('GET', '/gatekeeper/rules?user=jane&group=system:authenticated&namespace=team')[2]
        parts = text.split('|')
        self.assertEqual((parts[0], parts[-1]), ('complete', 'get /healthz'), text)
        self.assertIn('get configmaps', parts, 'of the gatekeeper')
        self.assertIn('create selfsubjectaccessreviews', parts, 'of RBAC')

    def test_tokens_are_known_wherever_they_come_from(self):
        self.assertEqual(self.server.request('GET', '/gatekeeper/token?token=jane-token')[2], 'jane in system:authenticated')
        self.assertEqual(self.server.request('GET', '/gatekeeper/token?token=other')[2], 'nobody')


class MutatingTwice(unittest.TestCase):
    def create(self, server, name, labels=None):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'labels': labels or {}}}
        code, headers, made = server.request('POST', CONFIG_MAPS + '?fieldManager=me', body)
        self.assertEqual(code, 201, made)
        return headers, made['metadata']

    def test_a_change_that_asks_for_it_is_seen_by_those_in_front(self):
        with server_with('relabel') as server:
            self.assertIn('TierStamper, TierDefaulter', server.text())
            headers, meta = self.create(server, 'plain')
            self.assertEqual(meta['labels'], {'tier': 'bronze'})
            self.assertEqual(meta['annotations']['stamped-tier'], 'bronze')
            self.assertEqual(meta['annotations']['stamped-in'], 'second pass')
            self.assertEqual(meta['annotations']['stamped-by'], 'kubernetes-admin')
            self.assertEqual(meta['annotations']['stamped-options'],
                             '{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"me"}')
            self.assertEqual(headers['Warning'], '299 - "the tier is bronze unless you say otherwise"')
            self.assertEqual(self.create(server, 'own', {'tier': 'silver'})[1]['annotations']['stamped-in'], 'first pass')

    def test_its_configuration_comes_from_the_admission_control_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'admission.yaml')

            def configure(plugins):
                with open(path, 'w') as f:
                    f.write('apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n' + plugins)
            flags = ('--admission-control-config-file=' + path,)
            configure('- name: TierDefaulter\n  path: tiers.yaml\n')
            with open(os.path.join(folder, 'tiers.yaml'), 'w') as f:
                f.write('tier: gold\n')
            with server_with('relabel', flags=flags) as server:
                self.assertEqual(self.create(server, 'plain')[1]['labels'], {'tier': 'gold'})
            for plugins, words in (('- name: TierDefaulter\n  configuration: {}\n', 'couldn\'t init admission plugin "TierDefaulter": tier must be given'),
                                   ('- name: Nonsense\n', 'configures "Nonsense", which no loaded plugin offers')):
                configure(plugins)
                with server_with('relabel', flags=flags, wait=False) as server:
                    self.assertNotEqual(server.process.wait(60), 0)
                    self.assertIn(words, server.text())

    def test_a_named_admission_plugin_does_not_keep_the_server_from_starting_in_safe_mode(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'admission.yaml')
            with open(path, 'w') as f:
                f.write('apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n'
                        '- name: TierDefaulter\n  configuration: {tier: gold}\n')
            for flag in ('--admission-control-config-file=' + path, '--enable-admission-plugins=TierDefaulter',
                         '--disable-admission-plugins=TierDefaulter'):
                with server_with('relabel', flags=('--safe-mode', flag)) as server:
                    self.create(server, 'plain')
                    if 'disable' not in flag:
                        self.assertIn('do not run, and writes are not checked by them: TierDefaulter', server.text())

    def test_it_can_be_switched_off(self):
        with server_with('relabel', flags=('--disable-admission-plugins=TierDefaulter',)) as server:
            self.assertEqual(self.create(server, 'plain')[1]['annotations']['stamped-tier'], '')


class ChangingTheAdmissionFile(unittest.TestCase):
    """Each change of a plugin reads the file of --admission-control-config-file again."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='backplane-admission-')
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, 'admission.yaml')

    def write(self, text, name='admission.yaml'):
        with open(os.path.join(self.folder, name), 'w') as f:
            f.write(text)

    def configure(self, tier, level, more=''):
        self.write('tier: %s\n' % tier, 'tiers.yaml')
        self.write('apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n'
                   '- name: TierDefaulter\n  path: tiers.yaml\n- name: PodSecurity\n  configuration:\n'
                   '    apiVersion: pod-security.admission.config.k8s.io/v1\n    kind: PodSecurityConfiguration\n'
                   '    defaults: {enforce: %s}\n%s' % (level, more))

    def start(self):
        server = server_with('relabel', flags=('--admission-control-config-file=' + self.path,))
        self.addCleanup(server.stop)
        return server

    def tier(self, server):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'generateName': 'm-'}}
        code, _, made = server.request('POST', CONFIG_MAPS, body)
        self.assertEqual(code, 201, made)
        return made['metadata'].get('labels', {}).get('tier')

    def create_host_pod(self, server):
        body = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'generateName': 'p-'},
                'spec': {'hostNetwork': True, 'containers': [{'name': 'c', 'image': 'i'}]}}
        return server.request('POST', '/api/v1/namespaces/default/pods', body)[0]

    def act(self, server, action, name):
        code, _, answer = server.request('POST', '/plugins/' + action, {'name': name})
        self.assertEqual(code, 200, answer)

    def refuse(self, server, action, name, words):
        code, _, answer = server.request('POST', '/plugins/' + action, {'name': name})
        self.assertEqual((code, words in answer['message']), (400, True), answer)

    def test_a_reload_applies_it_to_the_plugins_of_what_is_reloaded(self):
        self.configure('gold', 'privileged')
        server = self.start()
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('gold', 201))
        self.configure('silver', 'restricted')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('gold', 201), 'nothing has been changed')
        self.act(server, 'reload', 'relabel')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('silver', 201))
        self.configure('bronze', 'restricted')
        self.act(server, 'reload', 'admission')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('silver', 403))

    def test_a_file_that_cannot_be_used_refuses_the_reload(self):
        self.configure('gold', 'restricted')
        server = self.start()

        def refuse(name, words):
            self.refuse(server, 'reload', name, words)
            self.assertEqual((self.tier(server), self.create_host_pod(server)), ('gold', 403))
        self.configure('silver', 'privileged', more='- name: Nonsense\n')
        for name in ('admission', 'relabel'):
            refuse(name, '--admission-control-config-file configures "Nonsense", which no loaded plugin offers')
        self.configure('', 'sloppy')
        refuse('relabel', 'couldn\'t init admission plugin "TierDefaulter": tier must be given')
        refuse('admission', 'couldn\'t init admission plugin "PodSecurity": ')
        self.write('kind: [', 'admission.yaml')
        refuse('admission', 'unable to read admission control configuration from "%s"' % self.path)
        os.remove(self.path)
        refuse('relabel', 'no such file or directory')
        self.configure('silver', 'privileged')
        os.remove(os.path.join(self.folder, 'tiers.yaml'))
        refuse('admission', 'plugin "TierDefaulter": cannot open ')
        self.configure('silver', 'privileged')
        self.act(server, 'reload', 'admission')
        self.act(server, 'reload', 'relabel')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('silver', 201))

    def test_its_entries_for_a_disabled_plugin_wait_for_it(self):
        self.configure('gold', 'privileged')
        server = self.start()
        self.act(server, 'disable', 'relabel')
        self.configure('silver', 'restricted')
        self.act(server, 'reload', 'admission')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), (None, 403))
        self.configure('', 'restricted')
        self.refuse(server, 'enable', 'relabel', 'tier must be given')
        self.configure('silver', 'restricted', more='- name: Nonsense\n')
        self.refuse(server, 'enable', 'relabel', 'configures "Nonsense"')
        self.configure('bronze', 'restricted')
        self.act(server, 'enable', 'relabel')
        self.assertEqual(self.tier(server), 'bronze')
        self.act(server, 'disable', 'admission')
        self.configure('silver', 'restricted')
        self.act(server, 'reload', 'relabel')
        self.assertEqual((self.tier(server), self.create_host_pod(server)), ('silver', 201))


class Blocking(unittest.TestCase):
    """A plugin that blocks a thread forever blocks only its own thread."""

    def wait_blocked(self, server, where):
        deadline = time.monotonic() + 60
        while 'blocking for good in ' + where not in server.text():
            self.assertLess(time.monotonic(), deadline, server.text())
            time.sleep(0.02)

    def exercise(self, server):
        """Checks that background work continues: requests, custom types, API services."""
        deadline = time.monotonic() + 60
        while server.request('GET', '/api/v1/namespaces/default')[0] != 200:
            self.assertLess(time.monotonic(), deadline, server.text())
            time.sleep(0.05)
        for i in range(20):
            body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'm%d' % i}}
            self.assertEqual(server.request('POST', CONFIG_MAPS, body)[0], 201)
        crd = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'things.example.com'},
               'spec': {'group': 'example.com', 'names': {'plural': 'things', 'kind': 'Thing'}, 'scope': 'Namespaced',
                        'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object'}}}]}}
        self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)[0], 201)
        deadline = time.monotonic() + 60
        for path in ('/apis/example.com/v1/namespaces/default/things', '/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com'):
            while server.request('GET', path)[0] != 200:
                self.assertLess(time.monotonic(), deadline, path)
                time.sleep(0.05)

    def test_a_post_start_hook_that_never_returns(self):
        with server_with('blocker', env={'BLOCKER': 'start'}, wait=False) as server:
            self.wait_blocked(server, 'start')
            server.read_kubeconfig()
            self.exercise(server)
            code, _, text = server.request('GET', '/readyz?verbose')
            self.assertEqual(code, 500)
            self.assertIn('[-]poststarthook/blocker/start failed', text)
            self.assertNotIn('[-]poststarthook/storage', text)
            begun = time.monotonic()
            self.assertEqual(server.terminate(120), 1)
            self.assertLess(time.monotonic() - begun, 60, 'ten seconds for what plugins run, not for ever')
            self.assertIn('background tasks did not end', server.text())

    def test_a_task_that_never_gives_way(self):
        with server_with('blocker', env={'BLOCKER': 'task'}) as server:
            self.wait_blocked(server, 'task')
            self.exercise(server)
            self.assertEqual(server.terminate(120), 1)

    def test_posted_work_that_never_returns(self):
        with server_with('blocker', env={'BLOCKER': 'post'}) as server:
            self.wait_blocked(server, 'post')
            self.exercise(server)
            self.assertEqual(server.terminate(120), 1)
            self.assertIn('a plugin blocks its executor, exiting without it plugin=test.example.com/blocker', server.text())

    def test_a_pre_shutdown_hook_that_never_returns(self):
        with server_with('blocker', env={'BLOCKER': 'stop'}, flags=('--request-timeout=2s',)) as server:
            self.exercise(server)
            self.assertEqual(server.terminate(120), 1)
            self.assertIn('PreShutdownHook "blocker/stop" failed', server.text())


class PublishingPaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server_with('pathfinder')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def control(self, method, query):
        return self.server.request(method, '/pathfinder?' + query)[::2]

    def test_a_prefix_is_added_replaced_and_removed(self):
        self.assertEqual(self.server.request('GET', '/found/it')[0], 404)
        self.assertEqual(self.control('PUT', 'path=/found&say=here'), (200, 'done'))
        self.assertEqual(self.server.request('GET', '/found/it')[2], 'here /found/it')
        self.assertIn('/found', self.server.request('GET', '/')[2]['paths'])
        self.assertEqual(self.control('PUT', 'path=/found&say=there'), (200, 'done'))
        self.assertEqual(self.server.request('GET', '/found')[2], 'there /found')
        self.assertEqual(self.control('DELETE', 'path=/found'), (200, 'done'))
        self.assertEqual(self.server.request('GET', '/found/it')[0], 404)
        self.assertNotIn('/found', self.server.request('GET', '/')[2]['paths'])
        self.assertEqual(self.control('DELETE', 'path=/found')[0], 404)

    def test_a_group_that_is_not_served_can_be_answered_and_a_served_one_cannot(self):
        version = '/apis/remote.example.com/v1'
        self.assertEqual(self.control('PUT', 'path=%s&say=proxied' % version), (200, 'done'))
        self.assertEqual(self.server.request('GET', version + '/namespaces/x/things')[2], 'proxied %s/namespaces/x/things' % version)
        self.assertEqual(self.control('PUT', 'path=/apis/apps/v1&say=no')[0], 409)
        self.assertEqual(self.control('PUT', 'path=/healthz&say=no')[0], 409)
        self.assertEqual(self.control('PUT', 'path=nonsense&say=no')[0], 400)

    def test_a_body_of_any_size_passes_in_a_window(self):
        self.assertEqual(self.control('PUT', 'path=/sink&say=x'), (200, 'done'))
        with open('/proc/%d/status' % self.server.process.pid) as f:
            before = int(f.read().split('VmHWM:')[1].split()[0])
        size = 64 << 20
        self.assertEqual(self.server.request('POST', '/sink', body=b'u' * size)[2], size)
        with open('/proc/%d/status' % self.server.process.pid) as f:
            peak = int(f.read().split('VmHWM:')[1].split()[0])
        if not is_sanitized():
            self.assertLess(peak - before, 16 << 10, 'kilobytes more than before for a body of %d' % (size >> 10))


class Auditing(unittest.TestCase):
    """The audit events of all kinds of requests, as in kube-apiserver's audit log."""
    @classmethod
    def setUpClass(cls):
        cls.server = server_with('auditor')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def send(self, method, path, body=None, stage='ResponseComplete', headers=None, **options):
        """The answer, and the event of the request's stage."""
        audit_id = str(uuid.uuid4())
        answer = self.server.request(method, path, body, headers={**(headers or {}), 'Audit-Id': audit_id}, **options)
        return answer[0], answer[2], self.event(audit_id, stage)

    def event(self, audit_id, stage):
        code, _, event = self.server.request('GET', '/auditor?id=%s&stage=%s' % (audit_id, stage))
        self.assertEqual((code, event['auditID'], event['stage']), (200, audit_id, stage))
        return event

    def test_a_create_has_both_objects_and_the_user_the_request_and_the_decision(self):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'made'}, 'data': {'k': 'v'}}
        code, made, event = self.send('POST', CONFIG_MAPS + '?fieldManager=me', body)
        self.assertEqual(code, 201)
        self.assertEqual((event['kind'], event['apiVersion'], event['level'], event['verb']), ('Event', 'audit.k8s.io/v1', 'RequestResponse', 'create'))
        self.assertEqual(event['requestURI'], CONFIG_MAPS + '?fieldManager=me')
        self.assertEqual(event['objectRef'], {'resource': 'configmaps', 'namespace': 'default', 'name': 'made', 'apiVersion': 'v1'})
        self.assertEqual((event['user']['username'], event['sourceIPs']), ('kubernetes-admin', ['127.0.0.1']))
        self.assertEqual(event['requestObject']['data'], {'k': 'v'})
        self.assertNotIn('managedFields', event['requestObject']['metadata'])
        self.assertEqual(event['responseObject'], made)
        self.assertEqual(event['responseStatus'], {'code': 201})
        self.assertEqual(event['annotations'], {'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': ''})
        received = self.event(event['auditID'], 'RequestReceived')
        self.assertNotIn('requestObject', received)
        self.assertNotIn('responseStatus', received)

    def test_patches_lists_tables_and_deletes(self):
        path = CONFIG_MAPS + '/patched'
        config = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'patched'}, 'data': {'k': 'v'}}
        apply = {'Content-Type': 'application/apply-patch+yaml'}
        _, _, event = self.send('PATCH', path + '?fieldManager=me', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: patched}\ndata: {k: v}\n',
                                headers=apply)
        self.assertEqual((event['verb'], event['requestObject']), ('patch', config))
        patch = [{'op': 'replace', 'path': '/data/k', 'value': 'w'}]
        _, patched, event = self.send('PATCH', path, json.dumps(patch), headers={'Content-Type': 'application/json-patch+json'})
        self.assertEqual((event['requestObject'], event['responseObject']), (patch, patched))
        for accept in ('application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'):
            event = self.send('GET', CONFIG_MAPS, headers={'Accept': accept})[2]
            self.assertEqual(event['responseObject']['kind'], 'ConfigMapList', accept)
            self.assertIn('patched', [item['metadata']['name'] for item in event['responseObject']['items']])
        table = self.send('GET', path, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})
        self.assertEqual(table[2]['responseObject'], table[1])
        code, _, event = self.send('DELETE', path, {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'propagationPolicy': 'Background'})
        self.assertEqual((code, event['requestObject']['propagationPolicy']), (200, 'Background'))
        self.assertEqual(event['responseStatus'], {'code': 200, 'status': 'Success', 'details': {'name': 'patched', 'kind': 'configmaps'}})
        self.assertNotIn('uid', event['objectRef'])

    def test_a_large_update_is_audited_with_its_uid_and_revision(self):
        made = self.send('POST', CONFIG_MAPS, {'metadata': {'name': 'large'}, 'data': {'k': 'v' * (200 << 10)}})[1]
        made['data']['k'] = 'w' * (200 << 10)
        _, updated, event = self.send('PUT', CONFIG_MAPS + '/large', made)
        self.assertEqual(event['objectRef'], {'resource': 'configmaps', 'namespace': 'default', 'name': 'large', 'apiVersion': 'v1',
                                              'uid': made['metadata']['uid'], 'resourceVersion': made['metadata']['resourceVersion']})
        self.assertEqual(event['requestObject']['data'], made['data'])
        self.assertEqual(event['responseObject'], updated)

    def test_a_policy_may_leave_managed_fields_out(self):
        self.server.request('POST', '/api/v1/namespaces', {'metadata': {'name': 'bare'}})
        _, made, event = self.send('POST', '/api/v1/namespaces/bare/configmaps', {'metadata': {'name': 'a'}, 'data': {'k': 'v'}})
        del made['metadata']['managedFields']
        self.assertEqual(event['responseObject'], made)

    def test_refusals_and_other_resources_have_metadata(self):
        code, refused, event = self.send('GET', CONFIG_MAPS + '/none')
        self.assertEqual(code, 404)
        self.assertEqual(event['responseStatus'], {'code': 404, 'status': 'Failure', 'reason': 'NotFound', 'message': 'configmaps "none" not found'})
        self.assertEqual(event['responseObject'], refused)
        code, _, event = self.send('GET', '/api/v1/secrets', client_certificate=False)
        self.assertEqual((code, event['responseStatus']['reason'], event['user']['username']), (403, 'Forbidden', 'system:anonymous'))
        self.assertEqual(event['annotations']['authorization.k8s.io/decision'], 'forbid')
        bearer = {'Authorization': 'Bearer junk'}
        code, _, event = self.send('GET', '/api/v1/pods', stage='ResponseStarted', headers=bearer, client_certificate=False)
        self.assertEqual((code, event['responseStatus']['code'], event['user']), (401, 401, {}))
        _, _, event = self.send('GET', '/version')
        self.assertEqual((event['level'], event['verb'], event['requestURI']), ('Metadata', 'get', '/version'))
        self.assertNotIn('objectRef', event)

    def test_a_watch_has_an_event_when_it_starts_and_one_when_it_ends(self):
        code, _, event = self.send('GET', CONFIG_MAPS + '?watch=1&timeoutSeconds=1')
        self.assertEqual((code, event['verb']), (200, 'watch'))
        self.assertNotIn('responseObject', event)
        self.assertEqual(self.event(event['auditID'], 'ResponseStarted')['responseStatus'], {'code': 200})

    def test_sinks_are_flushed_when_the_server_stops(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'events')
            with server_with('auditor', env={'AUDITOR_FILE': path}) as server:
                server.request('GET', '/version', headers={'Audit-Id': 'the-last'})
                self.assertEqual(server.terminate(60), 0)
            with open(path, encoding='utf-8') as f:
                self.assertIn('the-last', [json.loads(line)['auditID'] for line in f])


VAULTS = {
    'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'vaults.example.com'},
    'spec': {'group': 'example.com', 'scope': 'Namespaced', 'names': {'plural': 'vaults', 'kind': 'Vault'}, 'versions': [
        {'name': name, 'served': True, 'storage': name == 'v1',
         'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}} for name in ('v1', 'v2')]}}
VAULT = '/apis/example.com/v1/namespaces/default/vaults'


class SealingObjects(unittest.TestCase):
    def version(self, server, path):
        code, _, found = server.request('GET', path)
        self.assertEqual(code, 200, found)
        return found['metadata']['resourceVersion']

    def rewrite(self, server, path):
        """The resourceVersion after an update that changes nothing."""
        code, _, found = server.request('GET', path)
        self.assertEqual(code, 200, found)
        code, _, updated = server.request('PUT', path, body=found)
        self.assertEqual(code, 200, updated)
        return updated['metadata']['resourceVersion']

    def test_built_in_and_custom_objects_over_a_change_of_keys_and_restarts(self):
        directory = tempfile.mkdtemp(prefix='backplane-sealed-')
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        with server_with('sealer', data_dir=directory) as server:
            self.assertEqual(server.request('POST', CONFIG_MAPS, body={'metadata': {'name': 'a'}, 'data': {'k': 'secret'}})[0], 201)
            self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body=VAULTS)[0], 201)
            self.assertTrue(wait_for(lambda: server.request('GET', VAULT)[0] == 200))
            vault = {'apiVersion': 'example.com/v1', 'kind': 'Vault', 'metadata': {'name': 'v'}, 'gold': 1}
            self.assertEqual(server.request('POST', VAULT, body=vault)[0], 201)
            paths = (CONFIG_MAPS + '/a', VAULT + '/v')
            before = {path: self.version(server, path) for path in paths}
            for path in paths:
                self.assertEqual(self.rewrite(server, path), before[path], 'another nonce is no change')
            code = server.request('PUT', '/sealer?keys=k1,k2')[0]
            self.assertEqual(code, 200)
            after = {}
            for path in paths:
                after[path] = self.rewrite(server, path)
                self.assertNotEqual(after[path], before[path], 'the old key is stale')
                self.assertEqual(self.rewrite(server, path), after[path])
            events = server.events(CONFIG_MAPS + '?watch=true&resourceVersion=0', 1)
            self.assertIn('a', [event['object']['metadata']['name'] for event in events])
            self.assertEqual(server.terminate(), 0)
        with server_with('sealer', data_dir=directory, env={'SEALER_KEYS': 'k2'}) as server:
            for path in paths:
                self.assertEqual(self.version(server, path), after[path], 'from the store')
            self.assertEqual(server.request('GET', CONFIG_MAPS + '/a')[2]['data'], {'k': 'secret'})
            self.assertEqual(server.terminate(), 0)
        with server_with('sealer', data_dir=directory, env={'SEALER_KEYS': 'k3'}) as server:
            code, _, refused = server.request('GET', CONFIG_MAPS + '/a')
            self.assertEqual(code, 500)
            self.assertIn('no key k2', refused['message'])
            self.assertEqual(server.request('GET', '/api/v1/namespaces/default')[0], 200)

    def test_objects_are_converted_between_the_versions_that_are_served(self):
        with server_with('sealer') as server:
            self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body=VAULTS)[0], 201)
            self.assertTrue(wait_for(lambda: server.request('GET', VAULT)[0] == 200))
            vault = {'apiVersion': 'example.com/v1', 'kind': 'Vault', 'metadata': {'name': 'v'}, 'gold': 1}
            code, _, found = server.request('POST', '/sealer?to=example.com/v2/Vault', body=vault)
            self.assertEqual((code, found), (200, dict(vault, apiVersion='example.com/v2')))
            scaler = {'apiVersion': 'autoscaling/v1', 'kind': 'HorizontalPodAutoscaler', 'metadata': {'name': 'h'},
                      'spec': {'maxReplicas': 3, 'scaleTargetRef': {'kind': 'Deployment', 'name': 'd'}, 'targetCPUUtilizationPercentage': 50}}
            code, _, found = server.request('POST', '/sealer?to=autoscaling/v2/HorizontalPodAutoscaler', body=scaler)
            self.assertEqual(code, 200, found)
            self.assertEqual(found['apiVersion'], 'autoscaling/v2')
            self.assertEqual(found['spec']['metrics'][0]['resource']['target']['averageUtilization'], 50)
            code, _, back = server.request('POST', '/sealer?to=autoscaling/v1/HorizontalPodAutoscaler', body=found)
            self.assertEqual(code, 200, back)
            self.assertEqual(back['spec']['targetCPUUtilizationPercentage'], 50)
            self.assertEqual(server.request('POST', '/sealer?to=autoscaling/v9/HorizontalPodAutoscaler', body=scaler)[0], 404)


class CountingObjects(unittest.TestCase):
    def count(self, server):
        code, _, found = server.request('GET', CONFIG_MAPS + '/count')
        return int(found['data']['n']) if code == 200 else 0

    def listed(self, server):
        return len(server.request('GET', CONFIG_MAPS + '?labelSelector=counted%3Dyes')[2]['items'])

    def test_the_count_is_never_off(self):
        with server_with('counter', flags=('--delete-collection-workers=4',)) as server:
            def create(number):
                body = {'metadata': {'name': 'm%d' % number, 'labels': {'counted': 'yes'}}}
                return server.request('POST', CONFIG_MAPS, body=body)[0]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                codes = list(pool.map(create, range(32)))
            self.assertEqual((codes.count(201), codes.count(403)), (20, 12))
            self.assertEqual((self.count(server), self.listed(server)), (20, 20))
            self.assertEqual(server.request('DELETE', CONFIG_MAPS + '/m%d?dryRun=All' % codes.index(201))[0], 200)
            self.assertEqual(create(codes.index(201)), 403, 'it is there, and the count is full')
            self.assertEqual(self.count(server), 20)
            self.assertEqual(server.request('DELETE', CONFIG_MAPS + '?labelSelector=counted%3Dyes')[0], 200)
            self.assertEqual((self.count(server), self.listed(server)), (0, 0))
            self.assertEqual(create(1), 201)
            self.assertEqual(create(1), 409)
            self.assertEqual(server.request('POST', CONFIG_MAPS + '?dryRun=All', body={
                'metadata': {'name': 'dry', 'labels': {'counted': 'yes'}}})[0], 201)
            self.assertEqual((self.count(server), self.listed(server)), (1, 1))


if __name__ == '__main__':
    main()

"""Policies and webhooks of admission from directories of manifests (gate ManifestBasedAdmissionControlConfig)."""
import json
import os
import tempfile
import unittest

from admission_webhooks_test import Hooks
from harness import Server, configmap, wait_for

GATE = '--feature-gates=ManifestBasedAdmissionControlConfig=true'
GROUP = '/apis/admissionregistration.k8s.io/v1/'
MAPS = '/api/v1/namespaces/default/configmaps'
PLUGINS = {'ValidatingAdmissionPolicy': 'ValidatingAdmissionPolicyConfiguration', 'MutatingAdmissionPolicy': 'MutatingAdmissionPolicyConfiguration',
           'ValidatingAdmissionWebhook': 'WebhookAdmissionConfiguration', 'MutatingAdmissionWebhook': 'WebhookAdmissionConfiguration'}


def made(kind, name, **fields):
    return dict({'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind, 'metadata': {'name': name + '.static.k8s.io'}}, **fields)


def rules(group, *resources):
    return {'resourceRules': [{'apiGroups': [group], 'apiVersions': ['*'], 'operations': ['CREATE'], 'resources': list(resources)}]}


def policy(name, expression, constraints=None, message=None):
    validation = dict({'expression': expression}, **({'message': message} if message else {}))
    return [made('ValidatingAdmissionPolicy', name, spec={'matchConstraints': constraints or rules('', 'configmaps'), 'validations': [validation]}),
            made('ValidatingAdmissionPolicyBinding', name, spec={'policyName': name + '.static.k8s.io', 'validationActions': ['Deny']})]


def mutation(name, expression):
    return [made('MutatingAdmissionPolicy', name, spec={
        'matchConstraints': rules('', 'configmaps'), 'reinvocationPolicy': 'Never',
        'mutations': [{'patchType': 'ApplyConfiguration', 'applyConfiguration': {'expression': expression}}]}),
        made('MutatingAdmissionPolicyBinding', name, spec={'policyName': name + '.static.k8s.io'})]


class Directories:
    """A directory for each plugin, and the file that names them."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix='manifests-')
        for plugin in PLUGINS:
            os.mkdir(self.of(plugin))
        self.config = os.path.join(self.folder.name, 'admission.yaml')
        self.configure({plugin: self.of(plugin) for plugin in PLUGINS})

    def of(self, plugin):
        return os.path.join(self.folder.name, plugin)

    def configure(self, directories):
        plugins = [{'name': plugin, 'configuration': {'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': PLUGINS[plugin], 'staticManifestsDir': directory}}
                   for plugin, directory in directories.items()]
        with open(self.config, 'w', encoding='utf-8') as out:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration', 'plugins': plugins}, out)

    def put(self, plugin, name, objects):
        """Replaces a file at once, as mounted volumes do."""
        path = os.path.join(self.of(plugin), name)
        with open(path + '.new', 'w', encoding='utf-8') as out:
            out.write('\n---\n'.join(each if isinstance(each, str) else json.dumps(each) for each in objects))
        os.rename(path + '.new', path)

    def flags(self):
        return ('--admission-control-config-file=' + self.config, GATE)

    def end(self):
        self.folder.cleanup()


class ManifestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directories = Directories()
        cls.addClassCleanup(cls.directories.end)
        cls.directories.put('ValidatingAdmissionPolicy', 'a.yaml', policy('deny', "object.data.?x.orValue('') != '1'", message='not one'))
        cls.directories.put('MutatingAdmissionPolicy', 'a.yaml', [])
        cls.server = Server(*cls.directories.flags())
        cls.addClassCleanup(cls.server.stop)

    def dry(self, path=MAPS, **data):
        return self.server.request('POST', path + '?dryRun=All', configmap('m', **data))

    def eventually(self, check, what):
        self.assertTrue(wait_for(check, 30), what)

    def metric(self, plugin, status):
        text = self.server.request('GET', '/metrics')[2]
        found = [line.rsplit(' ', 1)[1] for line in text.splitlines()
                 if line.startswith('apiserver_manifest_admission_config_controller_automatic_reloads_total')
                 and 'plugin="%s"' % plugin in line and 'status="%s"' % status in line]
        return float(found[0]) if found else 0

    def test_policies_are_in_force_from_the_start_and_follow_their_files(self):
        code, _, answer = self.dry(x='1')
        self.assertEqual((code, answer['message']), (422, 'configmaps "m" is forbidden: ValidatingAdmissionPolicy \'deny.static.k8s.io\' with binding '
                                                          '\'deny.static.k8s.io\' denied request: not one'))
        self.assertEqual(self.metric('ValidatingAdmissionPolicy', 'success'), 1)
        self.directories.put('ValidatingAdmissionPolicy', 'b.yml', policy('more', "object.data.?x.orValue('') != '2'"))
        self.eventually(lambda: self.dry(x='2')[0] == 422, 'the second file is not read')
        self.assertEqual(self.dry(x='1')[0], 422)
        # If a file is invalid, the former configuration stays in effect.
        self.directories.put('ValidatingAdmissionPolicy', 'c.yaml', ['kind: Pod\napiVersion: v1'])
        self.eventually(lambda: self.metric('ValidatingAdmissionPolicy', 'failure') >= 1, 'the failure is not counted')
        self.assertEqual(self.dry(x='2')[0], 422)
        for name in ('b.yml', 'c.yaml'):
            os.remove(os.path.join(self.directories.of('ValidatingAdmissionPolicy'), name))
        self.eventually(lambda: self.dry(x='2')[0] == 201, 'the policy does not end')
        self.assertRegex(self.server.request('GET', '/metrics')[2],
                         r'apiserver_manifest_admission_config_controller_last_config_info\{plugin="ValidatingAdmissionPolicy",'
                         r'apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:[0-9a-f]{64}"\} 1')

    def test_mutating_policies(self):
        self.directories.put('MutatingAdmissionPolicy', 'a.yaml', mutation('add', "Object{data: {'added': 'yes'}}"))
        self.eventually(lambda: self.dry(x='3')[2]['data'].get('added') == 'yes', 'nothing is added')
        self.directories.put('MutatingAdmissionPolicy', 'a.yaml', [])
        self.eventually(lambda: 'added' not in self.dry(x='3')[2]['data'], 'the mutation does not end')

    def test_policies_of_manifests_concern_policies_and_those_of_the_api_do_not(self):
        body = policy('other', 'true')[0]
        body['metadata']['name'] = 'other'
        path = GROUP + 'validatingadmissionpolicies?dryRun=All'
        self.assertEqual(self.server.request('POST', path, body)[0], 201)
        self.directories.put('ValidatingAdmissionPolicy', 'p.yaml', policy('policies', 'false', rules('admissionregistration.k8s.io', '*')))
        self.eventually(lambda: self.server.request('POST', path, body)[0] == 422, 'the policy is not refused')
        os.remove(os.path.join(self.directories.of('ValidatingAdmissionPolicy'), 'p.yaml'))
        self.eventually(lambda: self.server.request('POST', path, body)[0] == 201, 'the policy is refused for ever')

    def test_their_names_are_reserved(self):
        for plural, body in (('validatingadmissionpolicies', policy('x', 'true')[0]), ('validatingadmissionpolicybindings', policy('x', 'true')[1]),
                             ('mutatingadmissionpolicies', mutation('x', 'Object{}')[0]), ('mutatingadmissionpolicybindings', mutation('x', 'Object{}')[1]),
                             ('validatingwebhookconfigurations', made('ValidatingWebhookConfiguration', 'x', webhooks=[])),
                             ('mutatingwebhookconfigurations', made('MutatingWebhookConfiguration', 'x', webhooks=[]))):
            code, headers, answer = self.server.request('POST', GROUP + plural, body)
            self.assertEqual((code, answer['details']['causes']), (422, [{
                'reason': 'FieldValueInvalid', 'field': 'metadata.name',
                'message': 'Invalid value: "x.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations '
                           'and cannot be managed via the API'}]), plural)
            self.assertNotIn('Warning', headers)

    def test_webhooks(self):
        hooks = Hooks(self.directories.folder.name)
        self.addCleanup(hooks.stop)
        hooks.answers['refuse'] = lambda *_: {'allowed': False, 'status': {'message': 'by manifest'}}
        config = made('ValidatingWebhookConfiguration', 'hooks', webhooks=[{
            'name': 'a.example.com', 'sideEffects': 'None', 'admissionReviewVersions': ['v1'], 'rules': rules('admissionregistration.k8s.io', '*')['resourceRules'],
            'clientConfig': {'url': 'https://127.0.0.1:%d/refuse' % hooks.port, 'caBundle': hooks.bundle}}])
        self.directories.put('ValidatingAdmissionWebhook', 'a.json', [config])
        path, body = GROUP + 'validatingwebhookconfigurations?dryRun=All', {'metadata': {'name': 'w'}, 'webhooks': []}
        self.eventually(lambda: self.server.request('POST', path, body)[0] == 400, 'the webhook is not called')
        self.assertIn('by manifest', self.server.request('POST', path, body)[2]['message'])
        os.remove(os.path.join(self.directories.of('ValidatingAdmissionWebhook'), 'a.json'))
        self.eventually(lambda: self.server.request('POST', path, body)[0] == 201, 'the webhook does not end')


class UnusableTest(unittest.TestCase):
    def refused(self, directories, *flags):
        """The log of a server that does not start."""
        server = Server(*flags, wait=False)
        self.addCleanup(server.stop)
        self.assertNotEqual(server.process.wait(60), 0)
        return server.text()

    def test_startup_fails(self):
        directories = Directories()
        self.addCleanup(directories.end)
        self.assertIn('staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled',
                      self.refused(directories, directories.flags()[0]))
        directories.put('MutatingAdmissionWebhook', 'a.yaml', ['kind: Pod\napiVersion: v1'])
        directory = directories.of('MutatingAdmissionWebhook')
        self.assertIn('failed to load static webhook manifests from "%s": error loading %s/a.yaml: no kind "Pod" is registered for version "v1"' % (
            directory, directory), self.refused(directories, *directories.flags()).replace('\\"', '"'))
        directories.configure({'ValidatingAdmissionPolicy': 'relative'})
        self.assertIn('staticManifestsDir: Invalid value: "relative": must be an absolute file path',
                      self.refused(directories, *directories.flags()).replace('\\"', '"'))


if __name__ == '__main__':
    unittest.main()

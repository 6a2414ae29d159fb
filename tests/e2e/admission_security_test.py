"""Admission plugins for security: PodSecurity, ServiceAccount, certificates, nodes, storage, networks."""
import base64
import json
import os
import subprocess
import tempfile
import unittest

from harness import Server, main, namespace, wait_for

POD_SECURITY = {
    'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration', 'plugins': [
        {'name': 'PodSecurity', 'configuration': {
            'apiVersion': 'pod-security.admission.config.k8s.io/v1', 'kind': 'PodSecurityConfiguration',
            'exemptions': {'namespaces': ['exempt'], 'usernames': ['exempt-user'], 'runtimeClasses': []}}}]}
MERGE = {'Content-Type': 'application/merge-patch+json'}
LABEL = 'pod-security.kubernetes.io/'


def pod(name, **spec):
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name},
            'spec': {'containers': [{'name': 'c', 'image': 'nginx'}], **spec}}


def claim(name, size='1Gi', **spec):
    return {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': name},
            'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': size}}, **spec}}


def certificate_request(subject):
    made = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', os.devnull,
                           '-subj', subject], capture_output=True, check=True)
    return base64.b64encode(made.stdout).decode()


class Admission(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory(prefix='backplane-test-')
        config = os.path.join(cls.files.name, 'admission.json')
        with open(config, 'w', encoding='utf-8') as f:
            json.dump(POD_SECURITY, f)
        cls.server = Server('--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction,DenyServiceExternalIPs',
                            '--admission-control-config-file=' + config, service_accounts=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.files.cleanup()

    def ask(self, method, path, body=None, user=None, groups=(), headers=None):
        """(status, message or object, headers)"""
        send = dict(headers or {})
        if user:
            send['Impersonate-User'] = user
            if groups:
                send['Impersonate-Group'] = groups[0]
        code, answered, answer = self.server.request(method, path, body, headers=send)
        return code, answer if code < 400 else answer['message'], answered

    def make(self, path, body, **how):
        code, answer, _ = self.ask('POST', path, body, **how)
        self.assertEqual(code, 201, answer)
        return answer

    def refused(self, expected, *request, code=403, **how):
        status, message, _ = self.ask(*request, **how)
        self.assertEqual((status, message), (code, expected))

    def make_namespace(self, name, account=True, **labels):
        self.make('/api/v1/namespaces', {**namespace(name), 'metadata': {
            'name': name, 'labels': {LABEL + key.replace('_', '-'): value for key, value in labels.items()}}})
        if account:
            self.make('/api/v1/namespaces/%s/serviceaccounts' % name, {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'default'}})
        return '/api/v1/namespaces/%s/' % name

    # ---- pod security

    def test_pods_are_enforced_by_the_labels_of_their_namespace(self):
        pods = self.make_namespace('enforced', enforce='baseline') + 'pods'
        self.make(pods, pod('good'))
        self.refused('pods "bad" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPort (container "c" '
                     'uses hostPort 80)', 'POST', pods, pod('bad', hostNetwork=True, containers=[
                         {'name': 'c', 'image': 'nginx', 'ports': [{'containerPort': 80, 'hostPort': 80}]}]))
        exempt = self.make_namespace('exempt', enforce='restricted') + 'pods'
        self.make(exempt, pod('bad', hostNetwork=True))

    def test_templates_and_warned_pods_get_warnings(self):
        prefix = self.make_namespace('warned', warn='baseline', warn_version='v1.20')
        code, _, headers = self.ask('POST', prefix + 'pods', pod('bad', hostPID=True))
        text = '299 - "would violate PodSecurity \\"baseline:v1.20\\": host namespaces (hostPID=true)"'
        self.assertEqual((code, headers.get('Warning')), (201, text))
        template = {'metadata': {'labels': {'a': 'b'}}, 'spec': pod('x', hostPID=True)['spec']}
        code, _, headers = self.ask('POST', '/apis/apps/v1/namespaces/warned/deployments', {
            'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'},
            'spec': {'selector': {'matchLabels': {'a': 'b'}}, 'template': template}})
        self.assertEqual((code, headers.get('Warning')), (201, text))

    def test_labels_are_checked_and_pods_counted(self):
        prefix = self.make_namespace('labelled')
        for name in ('b', 'a'):
            self.make(prefix + 'pods', pod(name, hostNetwork=True))

        def enforce(level):
            return self.ask('PATCH', prefix[:-1], {'metadata': {'labels': {LABEL + 'enforce': level}}}, headers=MERGE)
        self.assertEqual(enforce('x')[:2], (422, 'Namespace "labelled" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid '
                                                 'value: "x": must be one of privileged, baseline, restricted'))

        def warnings():
            enforce('privileged')
            connection = self.server.connect()
            connection.request('PATCH', prefix[:-1], json.dumps({'metadata': {'labels': {LABEL + 'enforce': 'baseline'}}}), MERGE)
            response = connection.getresponse()
            self.assertEqual(response.status, 200, response.read())
            found = response.headers.get_all('Warning') or []
            connection.close()
            return found if len(found) == 2 and 'other pod' in found[1] else None  # the cache has both pods
        self.assertEqual(wait_for(warnings), [
            '299 - "existing pods in namespace \\"labelled\\" violate the new PodSecurity enforce level \\"baseline:latest\\""',
            '299 - "a (and 1 other pod): host namespaces"'])
        self.assertIn('pod_security_evaluations_total{decision="allow",policy_level="privileged",policy_version="latest",mode="enforce"',
                      self.server.request('GET', '/metrics')[2])

    # ---- service accounts

    def test_pods_mount_the_token_of_their_account(self):
        prefix = self.make_namespace('accounts')
        spec = self.make(prefix + 'pods', pod('p'))['spec']
        self.assertEqual((spec['serviceAccountName'], spec['serviceAccount']), ('default', 'default'))
        mount = spec['containers'][0]['volumeMounts'][0]
        self.assertRegex(mount['name'], '^kube-api-access-[a-z0-9]{5}$')
        self.assertEqual(json.dumps(spec['volumes'][0]), json.dumps({'name': mount['name'], 'projected': {'sources': [
            {'serviceAccountToken': {'expirationSeconds': 3607, 'path': 'token'}},
            {'configMap': {'name': 'kube-root-ca.crt', 'items': [{'key': 'ca.crt', 'path': 'ca.crt'}]}},
            {'downwardAPI': {'items': [{'path': 'namespace', 'fieldRef': {'apiVersion': 'v1', 'fieldPath': 'metadata.namespace'}}]}}],
            'defaultMode': 420}}))
        self.assertEqual(json.dumps(mount), json.dumps({'name': mount['name'], 'readOnly': True,
                                                        'mountPath': '/var/run/secrets/kubernetes.io/serviceaccount'}))
        self.refused('pods "q" is forbidden: error looking up service account accounts/missing: serviceaccount "missing" not found',
                     'POST', prefix + 'pods', pod('q', serviceAccountName='missing'))

    def test_a_namespace_without_the_default_account_has_no_pods(self):
        prefix = self.make_namespace('bare', account=False)
        self.refused('pods "p" is forbidden: error looking up service account bare/default: serviceaccount "default" not found',
                     'POST', prefix + 'pods', pod('p'))

    # ---- certificates

    def test_signers_are_approved_by_right(self):
        requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

        def request(name, signer, subject):
            return {'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest', 'metadata': {'name': name},
                    'spec': {'signerName': signer, 'usages': ['client auth'], 'request': certificate_request(subject)}}
        self.refused('certificatesigningrequests.certificates.k8s.io "m" is forbidden: use of kubernetes.io/kube-apiserver-client signer with '
                     'system:masters group is not allowed',
                     'POST', requests, request('m', 'kubernetes.io/kube-apiserver-client', '/O=system:masters/CN=x'))
        self.make(requests, request('r', 'example.com/signer', '/CN=x'))
        rbac = '/apis/rbac.authorization.k8s.io/v1/'
        meta = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'metadata': {'name': 'approvers'}}
        rules = [{'apiGroups': ['certificates.k8s.io'], 'resources': ['certificatesigningrequests', 'certificatesigningrequests/approval'],
                  'verbs': ['*']}]
        self.make(rbac + 'clusterroles', {**meta, 'kind': 'ClusterRole', 'rules': rules})
        self.make(rbac + 'clusterrolebindings', {**meta, 'kind': 'ClusterRoleBinding', 'subjects': [{'kind': 'User', 'name': 'bob'}], 'roleRef': {
            'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'approvers'}})
        wait_for(lambda: self.ask('GET', requests + '/r', user='bob')[0] == 200)
        conditions = [{'type': 'Approved', 'status': 'True', 'reason': 'x', 'message': 'y'}]
        patch = ('PATCH', requests + '/r/approval', {'status': {'conditions': conditions}})
        self.refused('certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName '
                     '"example.com/signer"', *patch, user='bob', headers=MERGE)
        rules.append({'apiGroups': ['certificates.k8s.io'], 'resources': ['signers'], 'resourceNames': ['example.com/*'], 'verbs': ['approve']})
        self.assertEqual(self.ask('PATCH', rbac + 'clusterroles/approvers', {'rules': rules}, headers=MERGE)[0], 200)
        self.assertTrue(wait_for(lambda: self.ask(*patch, user='bob', headers=MERGE)[0] == 200))
        signed = {'status': {'conditions': conditions + [{'type': 'Failed', 'status': 'True', 'reason': 'x', 'message': 'y'}]}}
        self.assertEqual(self.ask('PATCH', requests + '/r/status', signed, headers=MERGE)[:1], (200,))  # the admin may do all

    # ---- nodes

    def test_nodes_are_tainted_and_restricted(self):
        how = {'user': 'system:node:n1', 'groups': ['system:nodes']}
        node = {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n1'}}
        made = self.make('/api/v1/nodes', node, **how)
        self.assertEqual(made['spec'], {'taints': [{'key': 'node.kubernetes.io/not-ready', 'effect': 'NoSchedule'}]})
        path = '/api/v1/nodes/n1'
        self.refused('nodes "n1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/a', 'PATCH', path,
                     {'metadata': {'labels': {'node-restriction.kubernetes.io/a': 'b'}}}, headers=MERGE, **how)
        self.refused('nodes "n1" is forbidden: node "n1" is not allowed to modify taints', 'PATCH', path, {'spec': {'taints': None}}, headers=MERGE, **how)
        self.assertEqual(self.ask('PATCH', path, {'metadata': {'labels': {'node.kubernetes.io/a': 'b'}}}, headers=MERGE, **how)[0], 200)
        pods = self.make_namespace('on-nodes') + 'pods'
        self.refused('pods "p" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
                     'POST', pods, pod('p', nodeName='n1'), **how)
        mirror = pod('m', nodeName='n1')
        owner = {'apiVersion': 'v1', 'kind': 'Node', 'name': 'n1', 'uid': made['metadata']['uid'], 'controller': True}
        mirror['metadata'].update(annotations={'kubernetes.io/config.mirror': 'x'}, ownerReferences=[owner])
        self.assertTrue(wait_for(lambda: self.ask('POST', pods, mirror, **how)[0] == 201))  # when the cache has the node
        self.assertNotIn('volumes', self.ask('GET', pods + '/m')[1]['spec'])

    def test_nodes_report_only_the_expansion_of_claims(self):
        prefix = self.make_namespace('claims')
        self.make(prefix + 'persistentvolumeclaims', claim('c'))
        mounting = pod('p', nodeName='n2', volumes=[{'name': 'v', 'persistentVolumeClaim': {'claimName': 'c'}}])
        self.make(prefix + 'pods', mounting)
        how = {'user': 'system:node:n2', 'groups': ['system:nodes'], 'headers': MERGE}
        path = prefix + 'persistentvolumeclaims/c/status'
        self.assertTrue(wait_for(lambda: self.ask('PATCH', path, {'status': {'capacity': {'storage': '1Gi'}}}, **how)[0] == 200))
        code, message, _ = self.ask('PATCH', path, {'status': {'phase': 'Lost'}}, **how)
        self.assertEqual(code, 403)
        self.assertTrue(message.startswith('persistentvolumeclaims "c" is forbidden: node "n2" is not allowed to update fields other than '
                                           'status.quantity and status.conditions: @@'), message)
        self.assertTrue(message.endswith('-  "Phase": "Pending",\n+  "Phase": "Lost",\n   "AccessModes": null,\n   "Capacity": null,\n'
                                         '   "Conditions": null,\n'), message)
        _, message, _ = self.ask('PATCH', path, {'metadata': {'labels': {'a': 'b'}}}, **how)
        self.assertIn('\n+ "labels": {\n+  "a": "b"\n+ },\n  "finalizers": [\n', message)

    # ---- storage and networks

    def test_claims_get_the_default_class_and_a_finalizer(self):
        prefix = self.make_namespace('storage')
        storage_class = {'apiVersion': 'storage.k8s.io/v1', 'kind': 'StorageClass', 'provisioner': 'x', 'metadata': {
            'name': 'fast', 'annotations': {'storageclass.kubernetes.io/is-default-class': 'true'}}}
        self.make('/apis/storage.k8s.io/v1/storageclasses', storage_class)
        claims = prefix + 'persistentvolumeclaims'

        def classed():
            return self.ask('POST', claims + '?dryRun=All', claim('d'))[1]['spec'].get('storageClassName')
        self.assertEqual(wait_for(classed), 'fast')
        made = self.make(claims, claim('c'))
        self.assertEqual(made['metadata']['finalizers'], ['kubernetes.io/pvc-protection'])
        grow = ('PATCH', claims + '/c', {'spec': {'resources': {'requests': {'storage': '2Gi'}}}})
        bound = {'status': {'phase': 'Bound', 'capacity': {'storage': '1Gi'}}}
        self.assertEqual(self.ask('PATCH', claims + '/c/status', bound, headers=MERGE)[0], 200)
        self.refused('persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions '
                     'the pvc must support resize', *grow, headers=MERGE)
        self.assertEqual(self.ask('PATCH', '/apis/storage.k8s.io/v1/storageclasses/fast', {'allowVolumeExpansion': True}, headers=MERGE)[0], 200)
        self.assertTrue(wait_for(lambda: self.ask(*grow, headers=MERGE)[0] == 200))
        volume = {'apiVersion': 'v1', 'kind': 'PersistentVolume', 'metadata': {'name': 'v'}, 'spec': {
            'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/x'}}}
        self.assertEqual(self.make('/api/v1/persistentvolumes', volume)['metadata']['finalizers'], ['kubernetes.io/pv-protection'])

    def test_ingresses_get_the_default_class(self):
        group = '/apis/networking.k8s.io/v1/'
        self.make_namespace('ingresses')
        self.make(group + 'ingressclasses', {'apiVersion': 'networking.k8s.io/v1', 'kind': 'IngressClass', 'spec': {'controller': 'example.com/c'},
                                             'metadata': {'name': 'front', 'annotations': {'ingressclass.kubernetes.io/is-default-class': 'true'}}})
        ingress = {'apiVersion': 'networking.k8s.io/v1', 'kind': 'Ingress', 'metadata': {'name': 'i'}, 'spec': {
            'defaultBackend': {'service': {'name': 's', 'port': {'number': 80}}}}}

        def classed():
            return self.ask('POST', group + 'namespaces/ingresses/ingresses?dryRun=All', ingress)[1]['spec'].get('ingressClassName')
        self.assertEqual(wait_for(classed), 'front')

    def test_services_get_no_external_addresses(self):
        prefix = self.make_namespace('services')
        service = {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 's'}, 'spec': {'ports': [{'port': 80}], 'externalIPs': ['1.1.1.1']}}
        self.refused('services "s" is forbidden: Use of external IPs is denied by admission control', 'POST', prefix + 'services', service)


class Configuration(unittest.TestCase):
    def test_a_wrong_configuration_makes_startup_fail(self):
        wrong = json.loads(json.dumps(POD_SECURITY))
        wrong['plugins'][0]['configuration']['defaults'] = {'enforce': 'x'}
        with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
            json.dump(wrong, f)
            f.flush()
            server = Server('--admission-control-config-file=' + f.name, wait=False)
            try:
                self.assertNotEqual(server.process.wait(60), 0)
                self.assertIn('PodSecurity configuration error: enforce: must be one of privileged, baseline, restricted', server.text())
            finally:
                server.stop()


if __name__ == '__main__':
    main()

"""Gatekeeper, built from its Go module and installed from its manifest: the server calls its admission webhooks, constraints and mutators apply until
they are deleted, and wrong ones are refused."""
import contextlib
import http.client
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e'), os.path.join(HERE, '../conformance')]
import harness  # noqa: E402
import policy_engines  # noqa: E402
from policy_engines import ADMISSION, DEFINITIONS, DEPLOYMENTS, MERGE, NAMESPACES  # noqa: E402

LABELS_TEMPLATE = 'demo/basic/templates/k8srequiredlabels_template.yaml'
LABELS_CONSTRAINT = 'demo/basic/constraints/all_ns_must_have_gatekeeper.yaml'


class Gatekeeper(policy_engines.Case):
    name, path, version = 'gatekeeper', 'github.com/open-policy-agent/gatekeeper/v3', 'v3.23.1'
    namespace = 'gatekeeper-system'
    is_long = False

    @classmethod
    def start(cls):
        cluster, deployment = cls.cluster, 'gatekeeper-controller-manager'
        # A call that takes longer than its time limit is ignored: more time on a busy machine.
        cluster.install(cls.module, 'deploy/gatekeeper.yaml', change=lambda text: re.sub(r'^  timeoutSeconds: [13]$', '  timeoutSeconds: 30', text, flags=re.M))
        pod = cluster.pod_of(cls.namespace, deployment, cls.address)
        port, health = harness.free_port(), harness.free_port()
        cluster.endpoint(cls.namespace, 'gatekeeper-webhook-service', cls.address, port)
        certificates, audits = (os.path.join(cluster.server.dir, each) for each in ('certificates', 'audits'))
        os.makedirs(audits)
        policy_engines.SecretVolume(cluster, cls.namespace, 'gatekeeper-webhook-server-cert', certificates)
        # All operations in one process, those of the audit deployment too.
        cls.run_engine(['--kubeconfig=' + cluster.account_kubeconfig(cls.namespace, 'gatekeeper-admin'), '--port=%d' % port, '--cert-dir=' + certificates,
                        '--health-addr=127.0.0.1:%d' % health, '--api-cache-dir=' + audits, '--audit-interval=1', '--default-wait-for-vapb-generation=1',
                        '--logtostderr', '--exempt-namespace=' + cls.namespace, '--disable-opa-builtin={http.send}'],
                       {'POD_NAME': pod, 'POD_NAMESPACE': cls.namespace, 'NAMESPACE': cls.namespace, 'CONTAINER_NAME': 'manager'})
        cls.engine.wait('it is ready', lambda: cls.is_ready(health))
        # The server uses the certificates as soon as a refusal arrives.
        exempt = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: tried\n  labels:\n    admission.gatekeeper.sh/ignore: "yes"\n'
        cls.engine.wait('it refuses a namespace', lambda: 'Only exempt namespace' in cluster.apply(exempt, '&dryRun=All')[1]['message'])

    @staticmethod
    def is_ready(port):
        try:
            with contextlib.closing(http.client.HTTPConnection('127.0.0.1', port, timeout=5)) as connection:
                connection.request('GET', '/readyz')
                return connection.getresponse().status == 200
        except OSError:
            return False

    def apply_template(self, name, kind):
        # The kind of a template that is being deleted does not accept constraints.
        self.addCleanup(self.wait_gone, DEFINITIONS + kind + '.constraints.gatekeeper.sh')
        return self.apply(self.read(name))

    def apply_constraint(self, text):
        path = self.apply(text)
        self.wait('the constraint is enforced', lambda: any(
            each.get('enforced') for each in self.cluster.get(path).get('status', {}).get('byPod') or []))
        return path

    def labels_required(self):
        """The paths of a template and a constraint by which namespaces need a label."""
        return self.apply_template(LABELS_TEMPLATE, 'k8srequiredlabels'), self.apply_constraint(self.read(LABELS_CONSTRAINT))

    def test_certificates_are_in_the_webhook_configurations(self):
        for kind in ('validating', 'mutating'):
            made = self.cluster.get('%s%swebhookconfigurations/gatekeeper-%s-webhook-configuration' % (ADMISSION, kind, kind))
            self.assertTrue(all(each['clientConfig'].get('caBundle') for each in made['webhooks']), made)

    def test_a_constraint_refuses_namespaces_until_it_is_deleted(self):
        template, constraint = self.labels_required()
        code, answer = self.try_namespace()
        self.assertEqual((code, answer['reason'], answer['message']), (
            403, 'Forbidden', 'admission webhook "validation.gatekeeper.sh" denied the request: [ns-must-have-gk] you must provide labels: {"gatekeeper"}'))
        self.assertEqual(self.try_namespace(gatekeeper='yes')[0], 201)
        self.cluster.request('DELETE', constraint)
        self.wait('namespaces are accepted', lambda: self.try_namespace()[0] == 201)
        self.cluster.request('DELETE', template)
        self.wait_gone(DEFINITIONS + 'k8srequiredlabels.constraints.gatekeeper.sh')

    def test_a_constraint_refuses_deletions_scales_and_connections(self):
        configuration = ADMISSION + 'validatingwebhookconfigurations/gatekeeper-validating-webhook-configuration'

        def listen(*operations):
            change = [{'op': 'replace', 'path': '/webhooks/0/rules/0/operations', 'value': ['CREATE', 'UPDATE', *operations]}]
            code, _, answer = self.cluster.request('PATCH', configuration, change, {'Content-Type': 'application/json-patch+json'})
            self.assertEqual(code, 200, answer)
        listen('DELETE', 'CONNECT')
        self.addCleanup(listen)
        labels, containers = {'app': 'a'}, [{'name': 'a', 'image': 'a'}]
        space = NAMESPACES + '/default/'
        for path, body in (
                (space + 'configmaps', {'metadata': {'name': 'kept'}}),
                (space + 'pods', {'metadata': {'name': 'kept'}, 'spec': {'containers': containers, 'nodeName': 'none'}}),
                (DEPLOYMENTS, {'metadata': {'name': 'kept'}, 'spec': {'selector': {'matchLabels': labels}, 'template': {
                    'metadata': {'labels': labels}, 'spec': {'containers': containers}}}})):
            self.assertEqual(self.cluster.request('POST', path, body)[0], 201)
            self.addCleanup(self.cluster.request, 'DELETE', path + '/kept?gracePeriodSeconds=0')
        self.apply_template(LABELS_TEMPLATE, 'k8srequiredlabels')
        constraint = self.apply_constraint(self.read(LABELS_CONSTRAINT).replace('apiGroups: [""]', 'apiGroups: ["*"]').replace(
            '"Namespace"', '"ConfigMap", "Scale", "PodExecOptions"'))

        def tried():
            """The statuses of a deletion, a change of the number of replicas, and a command in a container."""
            return [self.cluster.request(*each)[0] for each in (
                ('DELETE', space + 'configmaps/kept?dryRun=All'),
                ('PATCH', DEPLOYMENTS + '/kept/scale?dryRun=All', {'spec': {'replicas': 2}}, MERGE),
                ('GET', space + 'pods/kept/exec?command=true&stdout=true'))]
        self.wait('all are refused', lambda: tried() == [403, 403, 403])
        self.cluster.request('DELETE', constraint)
        # There is no node on which the command could run.
        self.wait('they are accepted', lambda: (got := tried())[:2] == [200, 200] and got[2] not in (200, 403))

    def test_a_constraint_warns(self):
        self.labels_required()
        constraint = self.read(LABELS_CONSTRAINT).replace('spec:', 'spec:\n  enforcementAction: warn', 1)
        self.apply_constraint(constraint)
        code = self.wait('a namespace is accepted', lambda: self.cluster.apply(
            'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: tried\n', '&dryRun=All')[0] == 201)
        self.assertTrue(code)
        self.assertIn('[ns-must-have-gk] you must provide labels', ''.join(self.cluster.warnings))

    def test_audits_report_the_objects_that_violate_a_constraint(self):
        _, constraint = self.labels_required()
        status = self.wait('the audit', lambda: (found := self.cluster.get(constraint)['status']).get('violations') and found)
        self.assertLessEqual({'default', 'kube-system', self.namespace}, {each['name'] for each in status['violations']})

    def test_wrong_templates_and_constraints_are_refused(self):
        denied = 'admission webhook "validation.gatekeeper.sh" denied the request: '
        self.assertTrue(self.refusal(self.read('demo/basic/bad/bad_template.yaml')).startswith(denied + 'invalid ConstraintTemplate: '))
        self.apply_template('demo/basic/templates/k8suniquelabel_template.yaml', 'k8suniquelabel')
        self.assertTrue(self.refusal(self.read('demo/basic/bad/bad_constraint_labelselector.yaml')).startswith(denied + 'invalid Constraint: '))

    def test_the_label_of_exempt_namespaces_is_refused_for_other_namespaces(self):
        code, answer = self.try_namespace(**{'admission.gatekeeper.sh/ignore': 'yes'})
        self.assertEqual((code, answer['message']), (403, 'admission webhook "check-ignore-label.gatekeeper.sh" denied the request: '
                                                     'Only exempt namespace can have the admission.gatekeeper.sh/ignore label'))

    def test_a_constraint_compares_with_synchronized_objects(self):
        self.apply(self.read('demo/basic/sync.yaml'))
        self.apply_template('demo/basic/templates/k8suniquelabel_template.yaml', 'k8suniquelabel')
        self.apply_constraint(self.read('demo/basic/constraints/all_ns_gatekeeper_label_unique.yaml'))
        first = self.apply(self.read('demo/basic/good/no_dupe_ns.yaml'))
        second = self.read('demo/basic/bad/no_dupe_ns_2.yaml')
        self.wait('the duplicate is refused', lambda: self.cluster.apply(second, '&dryRun=All')[0] == 403)
        self.assertIn('label gatekeeper has duplicate value not_duplicated', self.refusal(second))
        self.cluster.request('DELETE', first)
        self.wait('it is accepted', lambda: self.cluster.apply(second, '&dryRun=All')[0] == 201)

    def test_a_constraint_applies_to_the_pods_that_a_deployment_would_create(self):
        self.apply(self.read('demo/agilebank/expansion_templates/expand_deployment_expansiontemplate.yaml'))
        self.apply_template(LABELS_TEMPLATE, 'k8srequiredlabels')
        self.apply_constraint(self.read(LABELS_CONSTRAINT).replace('Namespace', 'Pod'))
        template = {'metadata': {'labels': {'app': 'a'}}, 'spec': {'containers': [{'name': 'a', 'image': 'a'}]}}
        body = {'metadata': {'name': 'tried'}, 'spec': {'selector': {'matchLabels': {'app': 'a'}}, 'template': template}}
        self.wait('the deployment is refused', lambda: self.try_create(DEPLOYMENTS, body)[0] == 403)
        self.assertIn('[Implied by expand-deployments]', self.try_create(DEPLOYMENTS, body)[1]['message'])
        template['metadata']['labels']['gatekeeper'] = 'yes'
        self.assertEqual(self.try_create(DEPLOYMENTS, body)[0], 201)

    def test_a_template_becomes_an_admission_policy(self):
        template = self.apply_template('demo/k8s-validating-admission-policy/k8srequiredlabels_template_usevap.yaml', 'k8srequiredlabels')
        constraint = self.apply(self.read('demo/k8s-validating-admission-policy/owner_must_be_provided.yaml'))
        self.wait('the policy refuses', lambda: 'ValidatingAdmissionPolicy' in self.try_namespace()[1].get('message', ''))
        denied = ("namespaces \"tried\" is forbidden: ValidatingAdmissionPolicy 'gatekeeper-k8srequiredlabels' with binding "
                  "'gatekeeper-k8srequiredlabels-all-must-have-owner' denied request: ")
        self.assertEqual(self.try_namespace()[1]['message'], denied + 'missing required label, requires all of: owner')
        self.assertEqual(self.try_namespace(owner='x')[1]['message'], denied + 'regex mismatch')
        self.assertEqual(self.try_namespace(owner='x.agilebank.demo')[0], 201)
        self.cluster.request('DELETE', constraint)
        self.wait('namespaces are accepted', lambda: self.try_namespace()[0] == 201)
        self.cluster.request('DELETE', template)
        self.wait_gone(ADMISSION + 'validatingadmissionpolicies/gatekeeper-k8srequiredlabels')

    def test_mutators_change_objects_until_they_are_deleted(self):
        labels = self.apply(self.read('test/bats/tests/mutations/k8sownerlabel_assignmetadata.yaml'))
        images = self.apply(self.read('demo/mutation/assignimagedemo.yaml'))
        addresses = self.apply(self.read('test/bats/tests/mutations/k8sexternalip_assign.yaml'))

        def tried():
            """The label, the image and the addresses of created objects."""
            made = [self.try_create('%s/default/%s' % (NAMESPACES, resource), body)[1] for resource, body in (
                ('configmaps', {'metadata': {'name': 'tried', 'labels': {'mutation/gatekeeper-test': 'assign-metadata'}}}),
                ('pods', {'metadata': {'name': 'tried'}, 'spec': {'containers': [{'name': 'a', 'image': 'nginx'}]}}),
                ('services', {'metadata': {'name': 'tried'}, 'spec': {'type': 'NodePort', 'ports': [{'port': 80}], 'externalIPs': ['1.1.1.1']}}))]
            return made[0]['metadata']['labels'].get('owner'), made[1]['spec']['containers'][0]['image'], made[2]['spec'].get('externalIPs')
        self.wait('objects are changed', lambda: tried() == ('gatekeeper', 'mycompany.registry.io/nginx', None))
        wrong = self.read('test/bats/tests/mutations/k8sownerlabel_assignmetadata.yaml').replace('metadata.labels.owner', 'spec.owner')
        self.assertIn('invalid location for assignmetadata', self.refusal(wrong))
        for path in (labels, images, addresses):
            self.cluster.request('DELETE', path)
        self.wait('objects are unchanged', lambda: tried() == (None, 'nginx', ['1.1.1.1']))


if __name__ == '__main__':
    harness.main()

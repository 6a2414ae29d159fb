"""Kyverno's admission controller, built from its Go module and installed from its manifest: the server calls its admission webhooks, policies apply
until they are deleted, and wrong ones are refused. The build takes minutes, so that this test only runs if POLICY_ENGINES lists kyverno."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e'), os.path.join(HERE, '../conformance')]
import harness  # noqa: E402
import policy_engines  # noqa: E402
from policy_engines import DEPLOYMENTS, NAMESPACES  # noqa: E402

CASES = 'test/conformance/chainsaw/'  # kyverno's end-to-end tests


class Kyverno(policy_engines.Case):
    """Its admission controller; the reports and generated objects of its other controllers are not tested."""
    name, path, version, package = 'kyverno', 'github.com/kyverno/kyverno', 'v1.19.1', '/cmd/kyverno'
    namespace = 'kyverno'

    @classmethod
    def start(cls):
        cluster, deployment = cls.cluster, 'kyverno-admission-controller'
        cluster.install(cls.module, 'config/install-latest-testing.yaml')
        pod = cluster.pod_of(cls.namespace, deployment, cls.address)
        port = harness.free_port()
        cluster.endpoint(cls.namespace, 'kyverno-svc', cls.address, port)
        container = cluster.get('/api/v1/namespaces/%s/pods/%s' % (cls.namespace, pod))['spec']['containers'][0]
        own = ('--webhookServerPort=', '--controllerRuntimeMetricsAddress=', '--disableMetrics=')
        cls.run_engine([*(each for each in container['args'] if not each.startswith(own)), '--webhookServerPort=%d' % port, '--disableMetrics=true',
                        '--controllerRuntimeMetricsAddress=0', '--kubeconfig=' + cluster.account_kubeconfig(cls.namespace, deployment)],
                       {**{each['name']: each['value'] for each in container['env'] if 'value' in each},
                        'KYVERNO_NAMESPACE': cls.namespace, 'KYVERNO_POD_NAME': pod})
        # It creates certificates and its webhook configurations; then the server's requests arrive.
        wrong = cls.read(CASES + 'policy-validation/cluster-policy/invalid-subject-kind/policy.yaml')
        cls.engine.wait('it refuses a wrong policy', lambda: 'denied the request' in cluster.apply(wrong, '&dryRun=All')[1].get('message', ''))

    def apply_policy(self, name, *changes):
        """Applies a policy with changed texts, and waits until it is in the webhook configurations."""
        text = self.read(name)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.apply(text)

        def is_ready():
            status = self.cluster.get(path).get('status', {})
            conditions = status.get('conditions') or status.get('conditionStatus', {}).get('conditions') or []
            return any(each['type'] in ('Ready', 'WebhookConfigured') and each['status'] == 'True' for each in conditions)
        self.wait('the policy is ready', is_ready)
        return path

    def try_pod(self, **labels):
        return self.try_create(NAMESPACES + '/default/pods', {'metadata': {'name': 'tried', 'labels': labels}, 'spec': {
            'containers': [{'name': 'a', 'image': 'a'}]}})

    def try_deployment(self, **labels):
        return self.try_create(DEPLOYMENTS, {'metadata': {'name': 'tried', 'labels': labels}, 'spec': {
            'selector': {'matchLabels': {'app': 'a'}}, 'template': {
                'metadata': {'labels': {'app': 'a'}}, 'spec': {'containers': [{'name': 'a', 'image': 'a'}]}}}})

    def test_a_policy_refuses_pods_and_deployments_until_it_is_deleted(self):
        policy = self.apply_policy('test/best_practices/require_certain_labels.yaml', ('Audit', 'Enforce'))
        code, answer = self.try_pod()
        self.assertEqual(code, 400, answer)
        self.assertTrue(answer['message'].startswith('admission webhook "validate.kyverno.svc-fail" denied the request: '), answer)
        self.assertIn('resource Pod/default/tried was blocked due to the following policies', answer['message'])
        self.assertEqual(self.try_pod(**{'app.kubernetes.io/name': 'a'})[0], 201)
        self.assertIn('autogen-validate-certain-labels', self.try_deployment()[1]['message'])
        self.cluster.request('DELETE', policy)
        self.wait('pods are accepted', lambda: self.try_pod()[0] == 201)
        self.assertEqual(self.try_deployment()[0], 201)

    def test_a_policy_changes_objects_until_it_is_deleted(self):
        def label():
            return self.try_create(NAMESPACES + '/default/configmaps', {'metadata': {'name': 'tried'}})[1]['metadata'].get('labels')
        policy = self.apply_policy(CASES + 'mutate/clusterpolicy/standard/basic-check-output/policy.yaml')
        self.assertEqual(label(), {'foo': 'bar'})
        self.cluster.request('DELETE', policy)
        self.wait('objects are unchanged', lambda: label() is None)

    def test_a_validating_policy_refuses_deployments_until_it_is_deleted(self):
        policy = self.apply_policy(CASES + 'validating-policies/validation-actions/deny/policy.yaml')
        self.wait('deployments are refused', lambda: self.try_deployment()[0] == 400)
        self.assertEqual(self.try_deployment()[1]['message'], 'admission webhook "vpol.validate.kyverno.svc-fail" denied the request: '
                         'Policy check-deployment-labels-deny failed: Deployment labels must be env=prod')
        self.assertEqual(self.try_deployment(env='prod')[0], 201)
        self.cluster.request('DELETE', policy)
        self.wait('deployments are accepted', lambda: self.try_deployment()[0] == 201)

    def test_a_mutating_policy_changes_deployments_until_it_is_deleted(self):
        def label():
            return self.try_deployment()[1]['metadata'].get('labels')
        policy = self.apply_policy(CASES + 'mutating-policies/admission/jsonpatch/policy.yaml', ("'dev'", "'default'"))
        self.wait('deployments are changed', lambda: label() == {'managed': 'true'})
        self.cluster.request('DELETE', policy)
        self.wait('deployments are unchanged', lambda: label() is None)

    def test_a_validating_policy_becomes_an_admission_policy(self):
        policy = self.apply_policy(CASES + 'generate-validating-admission-policy/validatingpolicy/check-deployment-labels/policy.yaml', ('Audit', 'Deny'))
        self.wait('the policy refuses', lambda: self.try_deployment()[0] == 422)
        self.assertEqual(self.try_deployment()[1]['message'], (
            "deployments.apps \"tried\" is forbidden: ValidatingAdmissionPolicy 'vpol-check-deployment-labels' with binding "
            "'vpol-check-deployment-labels-binding' denied request: Deployment labels must be env=prod"))
        self.cluster.request('DELETE', policy)
        self.wait('deployments are accepted', lambda: self.try_deployment()[0] == 201)

    def test_wrong_policies_are_refused(self):
        self.assertEqual(self.refusal(self.read(CASES + 'policy-validation/cluster-policy/invalid-subject-kind/policy.yaml')), (
            'admission webhook "validate-policy.kyverno.svc" denied the request: spec.rules[0].match.any[0].subjects[0].kind: '
            'Invalid value: "Foo": kind must be \'User\', \'Group\', or \'ServiceAccount\''))

    def test_wrong_expressions_are_warned_of(self):
        self.apply(self.read(CASES + 'policy-validation/cluster-policy/cel-expressions/policy-2.yaml'))
        self.assertIn("undefined field 'replicas'", ''.join(self.cluster.warnings))


if __name__ == '__main__':
    harness.main()

"""istiod, built from its Go module and installed with Helm from its charts: the server calls its admission webhooks, which refuse wrong objects and add
the proxy to pods. The build takes minutes, so that this test only runs if POLICY_ENGINES lists istio."""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e'), os.path.join(HERE, '../conformance')]
import clients  # noqa: E402
import harness  # noqa: E402
import policy_engines  # noqa: E402
from policy_engines import ADMISSION, MERGE, NAMESPACES  # noqa: E402


class Istio(policy_engines.Case):
    """istiod, installed with Helm from its charts: it validates its configuration objects and adds its proxy to pods."""
    name, path, version, package = 'istio', 'istio.io/istio', 'v0.0.0-20260827124520-eed52ebb66ad', '/pilot/cmd/pilot-discovery'
    namespace = 'istio-system'
    ROUTES = [{'route': [{'destination': {'host': 'a'}}]}]

    @classmethod
    def start(cls):
        cluster = cls.cluster
        cls.install('istio-base', 'base', '--create-namespace', '--set=defaultRevision=default', '--set=experimental.stableValidationPolicy=true')
        cls.install('istiod', 'istio-control/istio-discovery')
        pod = cluster.pod_of(cls.namespace, 'istiod', cls.address)
        port = harness.free_port()
        cluster.endpoint(cls.namespace, 'istiod', cls.address, port, 'https-webhook')
        container = cluster.get('/api/v1/namespaces/%s/pods/%s' % (cls.namespace, pod))['spec']['containers'][0]
        own = ['--%sAddr=127.0.0.1:%d' % (each, harness.free_port()) for each in ('http', 'grpc', 'secureGRPC', 'monitoring')]
        kubeconfig = cluster.account_kubeconfig(cls.namespace, 'istiod')
        cls.run_engine([*(each for each in container['args'] if not each.startswith('--monitoringAddr=')), *own, '--httpsAddr=:%d' % port,
                        '--kubeconfig=' + kubeconfig],
                       {**{each['name']: each['value'] for each in container['env'] if 'value' in each},
                        'POD_NAME': pod, 'POD_NAMESPACE': cls.namespace, 'SERVICE_ACCOUNT': 'istiod', 'KUBECONFIG': kubeconfig})
        # istiod sets the policy to Fail as soon as a wrong object is refused.
        cls.engine.wait('its webhooks are in use', lambda: all(
            each['failurePolicy'] == 'Fail' and each['clientConfig'].get('caBundle')
            for kind in ('validating', 'mutating') for found in cluster.get(ADMISSION + kind + 'webhookconfigurations')['items'] for each in found['webhooks']))

    @classmethod
    def install(cls, release, chart, *options):
        try:
            helm = clients.build_helm()
        except clients.Missing as why:
            raise unittest.SkipTest('Helm is not available: %s' % why)
        server = cls.cluster.server
        done = subprocess.run([helm, '--kubeconfig', server.kubeconfig, 'install', release, os.path.join(cls.module, 'manifests/charts', chart), '-n',
                               cls.namespace, *options], capture_output=True, text=True, check=False, env=dict(os.environ, HOME=server.dir))
        assert done.returncode == 0, done.stderr

    def try_virtual_service(self, labels=None, **spec):
        return self.try_create('/apis/networking.istio.io/v1/namespaces/default/virtualservices', {
            'apiVersion': 'networking.istio.io/v1', 'kind': 'VirtualService', 'metadata': {'name': 'tried', 'labels': labels or {}}, 'spec': spec})

    def containers(self, namespace, **labels):
        """The names of the containers of a created pod."""
        code, made = self.try_create('%s/%s/pods' % (NAMESPACES, namespace), {
            'metadata': {'name': 'tried', 'labels': labels}, 'spec': {'containers': [{'name': 'a', 'image': 'a'}]}})
        self.assertEqual(code, 201, made)
        return [each['name'] for each in made['spec'].get('initContainers', []) + made['spec']['containers']]

    def test_wrong_objects_are_refused(self):
        self.assertEqual(self.try_virtual_service(hosts=['a'], http=self.ROUTES)[0], 201)
        self.assertEqual(self.try_virtual_service(hosts=['a'])[1]['message'], 'admission webhook "validation.istio.io" denied the request: '
                         'configuration is invalid: http, tcp or tls must be provided in virtual service')
        code, answer = self.try_virtual_service(hosts=['*.a', '*.a'], http=self.ROUTES, labels={'istio.io/rev': 'default'})
        self.assertEqual(code, 400, answer)
        self.assertIn('validation.istio.io" denied the request: configuration is invalid: duplicate hosts in virtual service: *.a & *.a', answer['message'])

    def test_objects_without_effect_are_warned_of(self):
        self.apply('apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: warned\nspec: ' + json.dumps(
            {'hosts': ['a'], 'http': self.ROUTES * 2}))
        self.assertIn('virtualService rule #1 not used', ''.join(self.cluster.warnings))

    def test_objects_that_are_not_stable_are_refused_until_the_binding_is_deleted(self):
        text = 'apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  name: tried\nspec:\n  configPatches: []\n'
        denied = ("envoyfilters.networking.istio.io \"tried\" is forbidden: ValidatingAdmissionPolicy 'stable-channel-default-policy.istio.io' with binding "
                  "'stable-channel-default-policy-binding.istio.io' denied request: failed expression: !variables.isEnvoyFilter")
        self.wait('it is refused', lambda: self.cluster.apply(text, '&dryRun=All')[1].get('message') == denied)
        self.cluster.request('DELETE', ADMISSION + 'validatingadmissionpolicybindings/stable-channel-default-policy-binding.istio.io')
        self.wait('it is accepted', lambda: self.cluster.apply(text, '&dryRun=All')[0] == 201)

    def test_pods_of_labeled_namespaces_have_the_proxy(self):
        self.apply('apiVersion: v1\nkind: Namespace\nmetadata:\n  name: mesh\n  labels:\n    istio-injection: enabled\n')
        space = NAMESPACES + '/mesh'
        self.wait("istiod's certificate and the account are in the namespace", lambda: self.cluster.get(space + '/configmaps/istio-ca-root-cert')
                  and self.cluster.get(space + '/serviceaccounts/default'))
        self.assertEqual(self.containers('mesh'), ['istio-init', 'istio-proxy', 'a'])
        self.assertEqual(self.containers('mesh', **{'sidecar.istio.io/inject': 'false'}), ['a'])
        self.assertEqual(self.containers('default'), ['a'])
        self.assertEqual(self.containers('default', **{'sidecar.istio.io/inject': 'true'}), ['istio-init', 'istio-proxy', 'a'])
        self.cluster.request('PATCH', space, {'metadata': {'labels': {'istio-injection': None}}}, MERGE)
        self.wait('pods are unchanged', lambda: self.containers('mesh') == ['a'])


if __name__ == '__main__':
    harness.main()

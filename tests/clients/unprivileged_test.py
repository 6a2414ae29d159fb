"""kube-controller-manager with a service account for each controller, kube-scheduler and a kubelet, each with the certificate that kubeadm
gives it and no more rights than upstream's roles and the Node authorizer give: workloads become bound pods, a job completes, a namespace
empties.  A service account's token stops being valid with the pod that it is bound to."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
import harness  # noqa: E402
import identities  # noqa: E402
import clients  # noqa: E402
import controllers_test as controllers  # noqa: E402

WHOAMI = ('/apis/authentication.k8s.io/v1/selfsubjectreviews', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'})


class Unprivileged(controllers.Controllers):
    @classmethod
    def setUpClass(cls):
        try:
            paths = clients.build(('kube-controller-manager', 'kube-scheduler'))
        except clients.Missing as why:
            raise unittest.SkipTest('kube-controller-manager and kube-scheduler cannot be built: %s' % why)
        cls.server = server = harness.Server('--authorization-mode=Node,RBAC')

        def config(name, *groups):
            return identities.kubeconfig(server, name, identities.certificate(server, name, groups))

        cls.node = identities.Caller(server, identities.certificate(server, 'system:node:' + controllers.NODE, ('system:nodes',)))
        cls.kubelet = controllers.Kubelet(cls.node)
        cls.programs = [clients.Program(paths['kube-controller-manager'], server, '--node-monitor-grace-period=1h',
                                        '--use-service-account-credentials', kubeconfig=config('system:kube-controller-manager')),
                        clients.Program(paths['kube-scheduler'], server, kubeconfig=config('system:kube-scheduler'))]
        cls.kubelet.start()

    def test_workloads_become_bound_pods_and_a_deleted_namespace_empties(self):
        super().test_workloads_become_bound_pods_and_a_deleted_namespace_empties()
        for program in self.programs:
            forbidden = [line for line in program.text().splitlines() if 'orbidden' in line and ' cannot ' in line]
            self.assertEqual(forbidden, [], program.log_path)

    def test_a_node_reads_only_what_its_pods_use(self):
        self.created('/api/v1/namespaces', harness.namespace('secrets'))
        for name in ('used', 'unused'):
            self.created('/api/v1/namespaces/secrets/secrets', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}})
        self.created('/api/v1/namespaces/secrets/pods', {
            'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},
            'spec': {'nodeName': controllers.NODE, 'containers': [{'name': 'c', 'image': 'example.com/c:1'}],
                     'volumes': [{'name': 'v', 'secret': {'secretName': 'used'}}]}})
        used = lambda: self.node.request('GET', '/api/v1/namespaces/secrets/secrets/used')[0] == 200
        self.assertTrue(harness.wait_for(used), 'a secret of a bound pod is not readable')
        code, _, answer = self.node.request('GET', '/api/v1/namespaces/secrets/secrets/unused')
        self.assertEqual(code, 403, answer)
        self.assertIn("no relationship found between node '%s' and this object" % controllers.NODE, answer['message'])
        self.assertEqual(self.node.request('GET', '/api/v1/pods')[0], 403, 'all pods')

    def test_a_token_ends_with_the_pod_that_it_is_bound_to(self):
        self.created('/api/v1/namespaces', harness.namespace('tokens'))
        account = '/api/v1/namespaces/tokens/serviceaccounts'
        self.created(account, {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'a'}})
        code, _, pod = self.server.request('POST', '/api/v1/namespaces/tokens/pods', {
            'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},
            'spec': {'serviceAccountName': 'a', 'containers': [{'name': 'c', 'image': 'example.com/c:1'}]}})
        self.assertEqual(code, 201, pod)
        bound = {'kind': 'Pod', 'apiVersion': 'v1', 'name': 'p', 'uid': pod['metadata']['uid']}
        code, _, made = self.server.request('POST', account + '/a/token', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest',
                                                                            'spec': {'boundObjectRef': bound}})
        self.assertEqual(code, 201, made)
        caller = identities.Caller(self.server, token=made['status']['token'])
        code, _, review = caller.request('POST', *WHOAMI)
        self.assertEqual(code, 201, review)
        self.assertEqual(review['status']['userInfo']['username'], 'system:serviceaccount:tokens:a')
        self.assertEqual(review['status']['userInfo']['extra']['authentication.kubernetes.io/pod-name'], ['p'])
        self.assertEqual(self.server.request('DELETE', '/api/v1/namespaces/tokens/pods/p', {'gracePeriodSeconds': 0})[0], 200)
        # A valid token is cached for ten seconds.
        self.assertTrue(harness.wait_for(lambda: caller.request('POST', *WHOAMI)[0] == 401, 30), 'the token outlives its pod')


if __name__ == '__main__':
    harness.main()

"""Upstream's end-to-end specs of what the server's controllers do (garbage collection, namespaces, service accounts, quotas).

kube-controller-manager runs only the controllers of workloads here, and does not hold its lease, so that the server's controllers run."""
import re

from specs import VOLUMES, Specs, with_tests
import harness

# Pods of these specs must run their containers: they print tokens, or call the server.
CONTAINERS = ('should mount an API token into pods', 'should mount projected service account token', 'should set ownership and permission',
              'should support InClusterConfig with token rotation', 'should support OIDC discovery of service account issuer')
# It waits until the controller counts all quotas again, which is every five minutes.
RECOUNTED = ('should apply changes to a resourcequota status',)
CONTROLLERS = ('garbage-collector-controller', 'serviceaccount-controller', 'serviceaccount-token-controller',
               'root-ca-certificate-publisher-controller', 'resourcequota-controller')


@with_tests
class OwnControllersSpecs(Specs):
    groups = {'garbage_collector': '[sig-api-machinery] Garbage collector', 'namespaces': '[sig-api-machinery] Namespaces',
              'ordered_namespace_deletion': '[sig-api-machinery] OrderedNamespaceDeletion', 'service_accounts': '[sig-auth] ServiceAccounts',
              'resource_quota': '[sig-api-machinery] ResourceQuota'}
    excluded, slow = VOLUMES + CONTAINERS, RECOUNTED
    controllers = True
    manager = ('--leader-elect=false', '--controllers=deployment-controller,replicaset-controller,replicationcontroller-controller,job-controller,'
                                       'cronjob-controller')

    def test_no_other_spec_waits_until_quotas_are_counted_again(self):
        late = {spec['LeafNodeText']: spec['RunTime'] / 1e9 for spec in self.outcomes
                if spec['RunTime'] > 240e9 and not spec['LeafNodeText'].startswith(RECOUNTED)}
        self.assertEqual(late, {})

    def test_the_controllers_of_the_server_have_run(self):
        runs = re.search(r'controllers run on this server controllers=(\S+)', self.server.text())[1].split(',')
        self.assertEqual(set(CONTROLLERS) - set(runs), set())
        self.assertNotIn('controllers stopped on this server', self.server.text())
        manager = self.programs[0]
        self.assertIsNone(manager.process.poll(), manager.text()[-3000:])
        disabled = set(re.findall(r'(?:controller is disabled|skipping controller)" controller="([^"]+)"', manager.text()))
        self.assertEqual(set(CONTROLLERS) - disabled, set())


if __name__ == '__main__':
    harness.main()

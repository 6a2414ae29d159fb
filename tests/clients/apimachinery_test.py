"""Upstream's end-to-end specs of admission webhooks, admission policies and quotas, with all controllers of kube-controller-manager."""
import unittest

from specs import Specs, with_tests
import harness
from webhook_pods import WebhookKubelet, own_address


@with_tests
class ApiMachinery(Specs):
    groups = {each: '[sig-api-machinery] ' + each
              for each in ('AdmissionWebhook', 'ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy', 'ResourceQuota')}
    # No proxy of services runs here: endpoints are called, not cluster IPs.
    server_flags = ('--enable-aggregator-routing=true',)
    # A spec waits until all quotas are counted again.
    manager = ('--node-monitor-grace-period=1h', '--resource-quota-sync-period=20s')

    @classmethod
    def setUpClass(cls):
        cls.address = own_address()
        if cls.address is None:
            raise unittest.SkipTest('this machine has only loopback addresses, which endpoints cannot have')
        super().setUpClass()

    @classmethod
    def make_kubelet(cls):
        return WebhookKubelet(cls.server, cls.program, cls.address)


if __name__ == '__main__':
    harness.main()

"""backplane-runner as an extension of the built server: plugins of both tiers behind APIServices, their admission rules as webhooks."""
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import extension_cases  # noqa: E402
import identities  # noqa: E402
from aggregated import IDENTITY_FLAGS, Certificates  # noqa: E402
from harness import Server  # noqa: E402
from runner_process import run_failing  # noqa: E402


class Outer:
    """The server that is extended."""

    @classmethod
    def setUpClass(cls):
        if not extension_cases.available_kubectl():
            raise unittest.SkipTest('no kubectl or no C compiler on the PATH')
        cls.folder = tempfile.mkdtemp(prefix='backplane-extension-')
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        front = Certificates(os.path.join(cls.folder, 'front'))
        proxy = front.issue('proxy', 'front-proxy-client')
        cls.outer = Server('--authorization-mode=Node,RBAC', '--requestheader-client-ca-file=' + front.path('ca.crt'), *IDENTITY_FLAGS,
                           '--proxy-client-cert-file=' + proxy[0], '--proxy-client-key-file=' + proxy[1])
        cls.addClassCleanup(cls.outer.stop)
        cls.admin = cls.outer.kubeconfig
        cls.config = identities.kubeconfig(cls.outer, 'runner', token=extension_cases.prepare(cls))


class Library(extension_cases.Library, Outer, unittest.TestCase):
    pass


class Stock(extension_cases.Stock, Outer, unittest.TestCase):
    pass


class Rules(extension_cases.Rules, Outer, unittest.TestCase):
    pass


class StockRule(extension_cases.StockRule, Outer, unittest.TestCase):
    pass


class Refused(Outer, unittest.TestCase):
    """Command lines that do not start a runner, with the line that says why."""

    def refused(self, text, *flags):
        code, output = run_failing('--data-dir', os.path.join(self.folder, 'refused'), '--secure-port=0', *flags)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def test_flags(self):
        plugin = '--plugin=' + os.environ['LIBRARY']
        self.refused('--kubeconfig: must not be empty', plugin)
        self.refused('--plugin: must not be empty', '--kubeconfig=' + self.config)
        self.refused('--authorization-mode: cannot be set', '--kubeconfig=' + self.config, plugin, '--authorization-mode=RBAC')
        self.refused('--plugin: /etc/hostname is not a plugin', '--kubeconfig=' + self.config, '--plugin=/etc/hostname')
        self.refused('--advertise-address: 127.0.0.1 is a loopback address', '--kubeconfig=' + self.config, plugin, '--advertise-address=127.0.0.1')
        self.refused('"/nowhere" cannot be read', '--kubeconfig=/nowhere', plugin)

    def test_a_rule_without_resources_needs_them(self):
        self.refused('--webhook-resources: admission rule', '--kubeconfig=' + self.config, '--plugin=' + os.environ['RULES'], '--admission-webhooks',
                     '--service-external-name=localhost')

    def test_a_user_without_rights(self):
        nobody = identities.kubeconfig(self.outer, 'nobody', identities.certificate(self.outer, 'nobody'))
        self.refused('the user needs the Role extension-apiserver-authentication-reader', '--kubeconfig=' + nobody,
                     '--plugin=' + os.environ['LIBRARY'], '--service-external-name=localhost')


if __name__ == '__main__':
    unittest.main()

"""kube-apiserver and the built server over one etcd, each without an API that the other serves."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clients  # noqa: E402
from kube_apiserver import KubeApiserver, Pki  # noqa: E402
import harness  # noqa: E402
import peers_test as own  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class MixedPeers(own.PeersCases, unittest.TestCase):
    """`one` is kube-apiserver."""

    @classmethod
    def setUpClass(cls):
        own.use_network()
        try:
            program = clients.build(('kube-apiserver',))['kube-apiserver']
        except clients.Missing as why:
            raise unittest.SkipTest('kube-apiserver cannot be built: %s' % why)
        certificates, pki, etcd = own.Certificates(), Pki(), Etcd().start()
        for end in (certificates.dir.cleanup, pki.remove, etcd.stop):
            cls.addClassCleanup(end)
        cls.one = KubeApiserver(program, pki, etcd, *certificates.flags(own.ADDRESSES['one']), '--runtime-config=batch/v1=false',
                                under=own.named('one'))
        cls.addClassCleanup(cls.one.stop)
        cls.two = own.Named('two', certificates, etcd, *pki.flags(None), '--runtime-config=autoscaling/v2=false')
        cls.addClassCleanup(cls.two.stop)


if __name__ == '__main__':
    own.run_alone()
    harness.main()

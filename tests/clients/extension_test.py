"""backplane-runner as an extension of a real kube-apiserver: plugins of both tiers behind APIServices, their admission rules as webhooks."""
import json
import os
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e'), os.path.join(HERE, '../plugins')]
import clients  # noqa: E402
import extension_cases  # noqa: E402
import harness  # noqa: E402
from aggregated import IDENTITY_FLAGS, Certificates  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402
from kube_apiserver import KubeApiserver, Pki  # noqa: E402

# Deletion of a namespace is a controller's work; no other controller is needed.
CONTROLLERS = ('--controllers=namespace-controller', '--leader-elect=false')


class Cluster:
    """kube-apiserver with a front proxy's certificates and the namespace controller, and the kubeconfigs of its users."""
    one = None  # all classes of this file have the same

    def __init__(self, programs):
        self.pki = Pki()
        self.etcd = Etcd().start()
        self.folder = tempfile.mkdtemp(prefix='backplane-extended-')
        front = Certificates(os.path.join(self.folder, 'front'))
        proxy = front.issue('proxy', 'front-proxy-client')
        self.server = KubeApiserver(programs['kube-apiserver'], self.pki, self.etcd, '--requestheader-client-ca-file=' + front.path('ca.crt'),
                                    *IDENTITY_FLAGS, '--proxy-client-cert-file=' + proxy[0], '--proxy-client-key-file=' + proxy[1])
        self.admin = self.kubeconfig('admin', {'client-certificate': self.pki.client, 'client-key': self.pki.key})
        self.manager = clients.Program(programs['kube-controller-manager'], self.server, *CONTROLLERS, kubeconfig=self.admin)

    def kubeconfig(self, name, user):
        cluster = {'server': 'https://127.0.0.1:%d' % self.server.port, 'certificate-authority': os.path.join(self.server.dir, 'apiserver.crt')}
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as out:
            json.dump({'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c', 'clusters': [{'name': 'c', 'cluster': cluster}],
                       'users': [{'name': 'c', 'user': user}], 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'c'}}]}, out)
        return path

    def stop(self):
        for part in (self.manager, self.server, self.etcd):
            part.stop()
        self.pki.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Outer:
    """The server that is extended."""

    @classmethod
    def setUpClass(cls):
        if not extension_cases.available_kubectl():
            raise unittest.SkipTest('no kubectl or no C compiler on the PATH')
        if Cluster.one is None:
            try:
                Cluster.one = Cluster(clients.build(('kube-apiserver', 'kube-controller-manager')))
            except clients.Missing as why:
                raise unittest.SkipTest('kube-apiserver cannot be built: %s' % why)
            unittest.addModuleCleanup(Cluster.one.stop)
        cls.outer, cls.admin = Cluster.one.server, Cluster.one.admin
        cls.folder = os.path.join(Cluster.one.folder, cls.__name__)
        os.mkdir(cls.folder)
        cls.config = Cluster.one.kubeconfig('runner', {'token': extension_cases.prepare(cls)})
        cls.addClassCleanup(cls.remove_registrations)

    @classmethod
    def remove_registrations(cls):
        """The next class may serve the same group in another way."""
        for group in ('library.example.com', 'stock.example.com'):
            cls.outer.request('DELETE', extension_cases.APISERVICES + 'v1.' + group)


class Library(extension_cases.Library, Outer, unittest.TestCase):
    pass


class Stock(extension_cases.Stock, Outer, unittest.TestCase):
    pass


class Rules(extension_cases.Rules, Outer, unittest.TestCase):
    pass


class StockRule(extension_cases.StockRule, Outer, unittest.TestCase):
    pass


if __name__ == '__main__':
    harness.main()

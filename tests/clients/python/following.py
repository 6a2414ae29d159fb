"""Checks of what follows a collection or holds a lease: loops of lists and watches, informers, leader election."""
import threading
import time

from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

SECONDS = 60


def eventually(what, holds):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError('%s did not come about' % what)


def configmap(core, ns, name, **data):
    return core.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data))


class Follower(threading.Thread):
    """A list, then watches from where the last one ended; a list again if the version has been compacted."""

    def __init__(self, core, ns, window):
        super().__init__(daemon=True)
        self.core, self.ns, self.window = core, ns, window
        self.store, self.lists, self.watches, self.over = {}, 0, 0, False

    def run(self):
        version = None
        while not self.over:
            if version is None:
                listed = self.core.list_namespaced_config_map(self.ns)
                self.store = {item.metadata.name: item.data for item in listed.items}
                version = listed.metadata.resource_version
                self.lists += 1
            try:
                version = self.follow(version)
            except ApiException as error:
                if error.status != 410:
                    raise
                version = None

    def follow(self, version):
        self.watches += 1
        stream = watch.Watch()
        for event in stream.stream(self.core.list_namespaced_config_map, self.ns, resource_version=version, timeout_seconds=self.window,
                                   allow_watch_bookmarks=True):
            version = stream.resource_version
            if event['type'] in ('ADDED', 'MODIFIED'):
                self.store[event['object'].metadata.name] = event['object'].data
            elif event['type'] == 'DELETED':
                del self.store[event['object'].metadata.name]
            if self.over:
                break
        return version


def list_and_watch_loop(ns):
    core = client.CoreV1Api()
    configmap(core, ns, 'before', n='0')
    follower = Follower(core, ns, window=1)
    follower.start()
    eventually('the first list', lambda: follower.store.get('before') == {'n': '0'})
    for number in range(20):
        configmap(core, ns, 'c%d' % number, n=str(number))
        core.patch_namespaced_config_map('before', ns, {'data': {'n': str(number)}})
        time.sleep(0.1)  # watches end and begin in between
    core.delete_namespaced_config_map('c7', ns)
    wanted = {item.metadata.name: item.data for item in core.list_namespaced_config_map(ns).items}
    eventually('the same content', lambda: dict(follower.store) == wanted)
    follower.over = True
    follower.join(SECONDS)
    if follower.watches < 2 or follower.lists != 1:
        raise AssertionError('%d watches, %d lists' % (follower.watches, follower.lists))


def informer(ns):
    try:
        from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer
    except ImportError:  # clients before 36 have none
        return
    core = client.CoreV1Api()
    configmap(core, ns, 'before', n='0')
    seen = {ADDED: [], MODIFIED: [], DELETED: []}
    shared = SharedInformer(core.list_namespaced_config_map, ns, label_selector='!hidden')
    for kind, names in seen.items():
        shared.add_event_handler(kind, lambda item, names=names: names.append(item.metadata.name))
    shared.start()
    eventually('the first one', lambda: 'before' in seen[ADDED])
    configmap(core, ns, 'behind', n='1')
    eventually('the second one', lambda: 'behind' in seen[ADDED])
    core.patch_namespaced_config_map('behind', ns, {'data': {'n': '2'}})
    eventually('the change', lambda: 'behind' in seen[MODIFIED])
    core.patch_namespaced_config_map('behind', ns, {'metadata': {'labels': {'hidden': 'yes'}}})
    eventually('the one that is selected no more', lambda: 'behind' in seen[DELETED])
    core.delete_namespaced_config_map('before', ns)
    eventually('the deleted one', lambda: 'before' in seen[DELETED])
    if shared.cache.list():
        raise AssertionError('left: %s' % shared.cache.list_keys())


def locks(ns):
    """By annotations of a config map, and by a lease if the client supports it."""
    yield lambda identity: ConfigMapLock('lock', ns, identity), lambda: client.CoreV1Api().read_namespaced_config_map('lock', ns).metadata.annotations
    try:
        from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
    except ImportError:
        return
    yield lambda identity: LeaseLock('lock', ns, identity), lambda: {'leader': client.CoordinationV1Api().read_namespaced_lease('lock', ns).spec.holder_identity}


def leader_election(ns):
    for make, holder in locks(ns):
        leading, stopped = [], threading.Event()

        def candidate(identity, lock):
            started = threading.Event()

            def lead():
                leading.append(identity)
                started.set()
            # The stopped candidate can no longer reach its lock, so its lease expires.
            update = lock.update
            lock.update = lambda *args: False if identity == 'one' and stopped.is_set() else update(*args)
            config = electionconfig.Config(lock, lease_duration=10, renew_deadline=8, retry_period=1, onstarted_leading=lead, onstopped_leading=lambda: None)
            threading.Thread(target=leaderelection.LeaderElection(config).run, daemon=True).start()
            return started
        if not candidate('one', make('one')).wait(SECONDS):
            raise AssertionError('no candidate leads')
        second = candidate('two', make('two'))
        if second.wait(5):
            raise AssertionError('two lead at once')
        stopped.set()
        if not second.wait(SECONDS):
            raise AssertionError('the lease does not change hands')
        if leading != ['one', 'two'] or 'two' not in str(holder()):
            raise AssertionError('%s, %s' % (leading, holder()))


CHECKS = [list_and_watch_loop, informer, leader_election]

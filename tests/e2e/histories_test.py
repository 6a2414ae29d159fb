"""A thousand random histories of concurrent calls and watches, at one host and at two that share an etcd, and some that end with kill -9:
one order of events explains every response. HISTORIES_SEED repeats a run, except for the scheduling of threads; HISTORIES sets their
number, HISTORIES_SECONDS the time after which no new one begins."""
import copy
import itertools
import multiprocessing
import os
import random
import shutil
import tempfile
import threading
import time
import unittest

from etcd_test import ETCD, Etcd
from harness import Server, main, namespace, wait_for
from histories import History, Resource, Watch
from histories_check import Check, Order, plain, check_survivors, version

SEED = int(os.environ.get('HISTORIES_SEED', random.SystemRandom().randrange(1 << 30)))
COUNT = int(os.environ.get('HISTORIES', 1000))
SECONDS = float(os.environ.get('HISTORIES_SECONDS', 300))
SLOTS = 4  # concurrent histories, each with a separate collection
CRASHES = 8
GROUP = 'histories.example.com'
CRD = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'things.' + GROUP}, 'spec': {
    'group': GROUP, 'scope': 'Namespaced', 'names': {'plural': 'things', 'singular': 'thing', 'kind': 'Thing', 'listKind': 'ThingList'},
    'versions': [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {
        'data': {'type': 'object', 'additionalProperties': {'type': 'string'}}}}}}]}}


def resource(slot):
    if slot % 2:
        return Resource('/apis/%s/v1' % GROUP, GROUP + '/v1', 'Thing', 'things', 'slot-%d' % slot, custom=True)
    return Resource('/api/v1', 'v1', 'ConfigMap', 'configmaps', 'slot-%d' % slot)


def prepare(server):
    code, _, answer = server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)
    assert code == 201, answer
    for slot in range(SLOTS):
        code, _, answer = server.request('POST', '/api/v1/namespaces', namespace('slot-%d' % slot))
        assert code == 201, answer
    assert wait_for(lambda: server.request('GET', resource(1).path)[0] == 200)


def run_slot(server, slot, deadline, results):
    """Runs the histories slot, slot + SLOTS, … in sequence; each begins with the objects of the previous one."""
    done, problems = 0, []
    try:
        for number in range(slot, COUNT, SLOTS):
            if time.monotonic() > deadline or problems:
                break
            history = History(server, resource(slot), SEED + number)
            history.finish(history.run())
            problems += ['history %d: %s' % (number, p) for p in Check(history).run()]
            done += 1
    except BaseException as error:  # a separate process, so the test would not see its errors
        problems.append('slot %d: %r' % (slot, error))
    results.put((done, problems[:20]))


class Hosts:
    """Hosts of one store: each connection goes to the next one."""

    def __init__(self, hosts):
        self.hosts, self.turns = hosts, itertools.count()

    def connect(self, **how):
        return self.hosts[next(self.turns) % len(self.hosts)].connect(**how)

    def request(self, *args, **how):
        return self.hosts[0].request(*args, **how)


class Record:
    """What a history has recorded, without its threads and connections."""

    class Recorded:
        def __init__(self, watch):
            self.events = watch.events

    def __init__(self, history):
        self.initial, self.calls, self.resumed_at = history.initial, history.calls, history.resumed_at
        for name in ('main', 'selected', 'streamed', 'resumed'):
            setattr(self, name, self.Recorded(getattr(history, name)))


def lost(events):
    return bool(events.pop(len(events) // 2))


def doubled(events):
    events.insert(len(events) // 2, events[len(events) // 2])
    return True


def swapped(events):
    events[1], events[2] = events[2], events[1]
    return True


def forgotten(record):
    call = next(c for c in record.calls if c.verb == 'update' and c.code == 200 and not c.dry)
    call.answer['data']['put'] = 'never'
    return True


def stale(record):
    call = next(c for c in record.calls if c.verb == 'list' and c.code == 200 and c.pages[0]['items'])
    return bool(call.pages[0]['items'].pop())


def deleted_by_two(record):
    call = next(c for c in record.calls if c.verb == 'delete' and c.code == 200)
    record.calls.append(copy.copy(call))
    return True


WRONGS = {'a lost event': lambda r: lost(r.main.events), 'an event that comes twice': lambda r: doubled(r.main.events),
          'events in another order': lambda r: swapped(r.main.events), 'a write that is not there': forgotten, 'a list of another moment': stale,
          'an object that two deleted': deleted_by_two, 'an event that a resumed watch lost': lambda r: lost(r.resumed.events),
          'an event that a selecting watch lost': lambda r: lost(r.selected.events), 'a streamed list that lost one': lambda r: lost(r.streamed.events)}


def finds_corruption(spoil, record):
    try:
        return spoil(record)
    except (StopIteration, IndexError):
        return False


class Histories(unittest.TestCase):
    def setUp(self):
        print('seed', SEED, flush=True)

    def explain(self, server):
        context = multiprocessing.get_context('fork')
        results = context.Queue()
        deadline = time.monotonic() + SECONDS
        slots = [context.Process(target=run_slot, args=(server, slot, deadline, results)) for slot in range(SLOTS)]
        for each in slots:
            each.start()
        found = [results.get() for _ in slots]
        for each in slots:
            each.join()
        print('%d histories' % sum(done for done, _ in found), flush=True)
        self.assertGreater(min(done for done, _ in found), 0)
        self.assertEqual([p for _, problems in found for p in problems], [])

    def test_one_order_of_events_explains_every_answer(self):
        with Server() as server:
            prepare(server)
            self.explain(server)

    @unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
    def test_one_order_explains_the_answers_of_two_hosts(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        flag = '--etcd-servers=' + etcd.url
        with Server(flag) as one, Server(flag) as other:
            prepare(one)
            # Both servers serve the kind before a client requests it.
            self.assertTrue(wait_for(lambda: other.request('GET', resource(1).path)[0] == 200))
            self.explain(Hosts([one, other]))

    def test_the_check_detects_errors(self):
        with Server() as server:
            prepare(server)
            records = []

            def record(number):
                """The last of several histories, because one alone may contain no event that the test can falsify."""
                while len(records) <= number:
                    history = History(server, resource(len(records)), SEED + len(records), count=40)
                    history.finish(history.run())
                    self.assertEqual(Check(history).run(), [])
                    records.append(Record(history))
                return copy.deepcopy(records[number])

            for name, spoil in WRONGS.items():
                with self.subTest(name):
                    wrong = next((each for each in map(record, range(SLOTS)) if finds_corruption(spoil, each)), None)
                    self.assertIsNotNone(wrong, 'no history has anything to spoil')
                    self.assertNotEqual(Check(wrong).run(), [])

    def test_what_was_answered_outlives_a_kill(self):
        folder = tempfile.mkdtemp(prefix='backplane-histories-')
        self.addCleanup(shutil.rmtree, folder, True)
        server = Server(data_dir=folder)
        rng = random.Random(SEED)
        try:
            prepare(server)
            for number in range(CRASHES):
                histories = [History(server, resource(slot), SEED + number * SLOTS + slot, count=400) for slot in range(SLOTS)]
                runs = [threading.Thread(target=self.until_it_breaks, args=(history,), daemon=True) for history in histories]
                for run in runs:
                    run.start()
                time.sleep(rng.uniform(0.3, 1.5))
                server.kill()
                for run in runs:
                    run.join()
                server.stop()
                server = Server(data_dir=folder)
                for history in histories:
                    self.after(server, history)
        finally:
            server.stop()

    @staticmethod
    def until_it_breaks(history):
        try:
            history.run().close()
        except (OSError, AttributeError) as error:  # the kill may come before the first list
            history.broken = error

    def after(self, server, history):
        if not getattr(history, 'first', None) or not getattr(history, 'main', None):
            return
        code, _, listed = server.request('GET', history.resource.path)
        self.assertEqual(code, 200, listed)
        self.assertEqual(check_survivors(history, listed), [], 'seed %d' % history.seed)
        for watch in history.watches:
            watch.join(60)
        events = [e for e in history.main.events if e['type'] != 'ERROR']
        last = version(events[-1]['object']) if events else int(history.first)
        watch = Watch(server, history.resource.path, 'resourceVersion=%d' % last, history.marker)
        watch.start()
        path = '%s/%s' % (history.resource.path, history.marker)
        code, _, answer = server.request('POST', history.resource.path, history.resource.body(history.marker, {}))
        self.assertEqual(code, 201, answer)
        self.assertGreater(version(answer), int(listed['metadata']['resourceVersion']))
        watch.join(60)
        self.resumed(history, listed, events, watch)
        self.assertEqual(server.request('DELETE', path)[0], 200)

    def resumed(self, history, listed, events, watch):
        """The events of a watch that resumes after the crash lead to the list; or the watch gets 410."""
        self.assertTrue(watch.events, 'no event, status %d, %s' % (watch.code, watch.error))
        if watch.events[0]['type'] == 'ERROR':
            self.assertEqual(watch.events[0]['object']['code'], 410, watch.events)
            return
        problems = []
        order = Order(history.initial, events + watch.events, problems)
        self.assertEqual(problems, [], 'seed %d' % history.seed)
        items = {i['metadata']['name']: plain(i) for i in listed['items']}
        self.assertEqual(order.all_at(int(listed['metadata']['resourceVersion'])), items, 'seed %d' % history.seed)


if __name__ == '__main__':
    main()

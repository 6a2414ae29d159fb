"""Random histories: workers that create, update, patch, apply, delete and read the same few objects at once, while others watch.

A History only records: each Call with its begin, end and response, each Watch with its events. histories_check.py checks that one order
of events explains all of it."""
import copy
import http.client
import json
import random
import threading
import time
import urllib.parse

NAMES = ['a', 'b', 'c', 'd', 'e']
SIDES = ['left', 'right']
SELECTED = 'labelSelector=side%3Dleft'
PATCHES = {'merge': 'application/merge-patch+json', 'json': 'application/json-patch+json', 'strategic': 'application/strategic-merge-patch+json',
           'apply': 'application/apply-patch+yaml'}
GONE = (OSError, http.client.HTTPException)


class Resource:
    """The resource of a history: a kind whose objects have `data`, in one namespace."""

    def __init__(self, group_path, api_version, kind, plural, namespace, custom=False):
        self.path = '%s/namespaces/%s/%s' % (group_path, namespace, plural)
        self.api_version, self.kind, self.custom = api_version, kind, custom

    def body(self, name, data, side=None):
        labels = {'side': side} if side else None
        meta = {'name': name, 'labels': labels} if labels else {'name': name}
        return {'apiVersion': self.api_version, 'kind': self.kind, 'metadata': meta, 'data': data}


class Call:
    """One request and its response; code None if the connection broke before it."""

    def __init__(self, verb, name, sent=None):
        self.verb, self.name, self.sent = verb, name, sent
        self.begin = self.end = self.code = self.answer = None
        self.dry = False
        self.pages = []

    def __repr__(self):
        return '%s %s %s -> %s %s' % (self.verb, self.name, json.dumps(self.sent), self.code, json.dumps(self.answer)[:600])


class Client:
    """One connection, used by one thread."""

    def __init__(self, server):
        self.server, self.connection = server, server.connect()

    def request(self, method, path, body=None, content_type='application/json'):
        headers = {'Content-Type': content_type} if body is not None else {}
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self):
        self.connection.close()


class Watch(threading.Thread):
    """Reads one watch to the event whose object is `last`, or until the connection ends."""

    def __init__(self, server, path, query, last):
        super().__init__(daemon=True)
        self.query, self.last, self.events, self.error = query, last, [], None
        self.connection = server.connect(timeout=120)
        try:
            self.connection.request('GET', path + '?watch=true&' + query)
            self.response = self.connection.getresponse()
        except BaseException:
            self.connection.close()
            raise
        self.code = self.response.status

    def run(self):
        try:
            for line in iter(self.response.readline, b''):
                event = json.loads(line)
                self.events.append(event)
                if event['type'] == 'ERROR' or event['object']['metadata'].get('name') == self.last:
                    break
        except GONE + (ValueError,) as error:  # a killed server leaves half a line
            self.error = error
        finally:
            self.response.close()
            self.connection.close()


class History:
    """One history of `count` calls by each of `workers` threads."""

    def __init__(self, server, resource, seed, workers=3, count=8):
        self.server, self.resource, self.seed = server, resource, seed
        self.workers, self.count = workers, count
        self.random = random.Random(seed)
        self.calls, self.watches, self.known = [], [], {}
        self.broken = None
        self.marker = 'end-%d' % seed

    def run(self):
        client = Client(self.server)
        try:
            self.run_with(client)
        except BaseException:
            client.close()
            raise
        return client

    def run_with(self, client):
        code, self.initial = client.request('GET', self.resource.path)
        assert code == 200, self.initial
        self.first = self.initial['metadata']['resourceVersion']
        self.main = self.watch('resourceVersion=' + self.first)
        self.selected = self.watch('resourceVersion=%s&%s' % (self.first, SELECTED))
        threads = [threading.Thread(target=self.work, args=(random.Random(self.random.random()),), daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        self.middle()
        for thread in threads:
            thread.join()

    def finish(self, client):
        """Creates the marker, waits until every watch has seen it, and deletes it."""
        self.call(client, Call('create', self.marker, self.resource.body(self.marker, {}, 'left')))
        for watch in self.watches:
            watch.join(120)
        code, answer = client.request('DELETE', '%s/%s' % (self.resource.path, self.marker))
        assert code == 200, answer
        client.close()
        if self.broken:
            raise self.broken

    def watch(self, query):
        watch = Watch(self.server, self.resource.path, query, self.marker)
        watch.start()
        self.watches.append(watch)
        return watch

    def middle(self):
        """Watches that begin while the workers run: one with initial events, one that resumes at another one's position."""
        try:
            self.streamed = self.watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
            seen = list(self.main.events)
            self.resumed_at = self.random.choice(seen)['object']['metadata']['resourceVersion'] if seen else self.first
            self.resumed = self.watch('resourceVersion=' + self.resumed_at)
        except GONE as error:
            self.broken = error

    def work(self, rng):
        client = Client(self.server)
        try:
            for _ in range(self.count):
                verb = rng.choice(VERBS)
                getattr(self, verb)(client, rng, rng.choice(NAMES))
        except GONE as error:
            self.broken = error
        except Exception as error:  # reported by finish(), because an exception in a thread is not
            self.broken = error
        finally:
            client.close()

    def call(self, client, call, method=None, query='', content_type='application/json'):
        collection = call.verb in ('create', 'list', 'collection')
        path = self.resource.path + ('' if collection else '/' + call.name) + ('?' + query if query else '')
        method = method or {'create': 'POST', 'list': 'GET', 'get': 'GET', 'update': 'PUT', 'delete': 'DELETE', 'collection': 'DELETE'}[call.verb]
        call.dry = 'dryRun' in query
        self.calls.append(call)
        call.begin = time.monotonic_ns()
        code, call.answer = client.request(method, path, call.sent, content_type)
        call.end, call.code = time.monotonic_ns(), code
        if code < 300 and 'metadata' in call.answer and 'uid' in call.answer['metadata'] and not call.dry:
            self.known[call.name] = call.answer
        return call

    # The verbs.  Values are from a small range, so that some writes change nothing.

    def create(self, client, rng, name):
        sent = self.resource.body(name, {'made': str(rng.randrange(100))}, rng.choice(SIDES))
        self.call(client, Call('create', name, sent), query=rng.choice(['', '', '', 'dryRun=All']))

    def update(self, client, rng, name):
        if name not in self.known:
            return
        sent = copy.deepcopy(self.known[name])
        sent['data'] = dict(sent.get('data') or {}, put=str(rng.randrange(3)))
        sent['metadata']['labels'] = {'side': rng.choice(SIDES)}
        if not self.resource.custom and rng.random() < 0.3:
            del sent['metadata']['resourceVersion']
            del sent['metadata']['uid']
        self.call(client, Call('update', name, sent), query=rng.choice(['', '', '', 'dryRun=All']))

    def patch(self, client, rng, name):
        kind = rng.choice(['merge', 'json'] if self.resource.custom else ['merge', 'json', 'strategic'])
        value = str(rng.randrange(3))
        sent = [{'op': 'add', 'path': '/data/json', 'value': value}] if kind == 'json' else {'data': {kind: value}}
        if kind == 'merge' and rng.random() < 0.5:
            sent['metadata'] = {'labels': {'side': rng.choice(SIDES)}}
        self.call(client, Call(kind, name, sent), 'PATCH', content_type=PATCHES[kind])

    def apply(self, client, rng, name):
        manager = rng.choice(['one', 'two'])
        sent = self.resource.body(name, {manager: str(rng.randrange(3))})
        force = rng.choice(['true', 'false'])
        self.call(client, Call('apply', name, sent), 'PATCH', 'fieldManager=%s&force=%s' % (manager, force), PATCHES['apply'])

    def delete(self, client, rng, name):
        sent = None
        if name in self.known and rng.random() < 0.5:
            sent = {'preconditions': {'resourceVersion': self.known[name]['metadata']['resourceVersion']}}
        self.call(client, Call('delete', name, sent))

    def collection(self, client, rng, _):
        if rng.random() < 0.3:
            self.call(client, Call('collection', None), query=SELECTED)

    def get(self, client, _, name):
        self.call(client, Call('get', name))

    def list(self, client, rng, _):
        newest = max([int(o['metadata']['resourceVersion']) for o in list(self.known.values())] + [int(self.first)])
        query = rng.choice(['', 'limit=2', 'resourceVersion=0', 'resourceVersion=%d&resourceVersionMatch=Exact' % newest,
                            'resourceVersion=%d&resourceVersionMatch=NotOlderThan' % newest])
        call = self.call(client, Call('list', None), query=query)
        call.query, call.asked = query, newest
        call.pages.append(call.answer)
        while call.code == 200 and call.pages[-1]['metadata'].get('continue'):
            token = urllib.parse.quote(call.pages[-1]['metadata']['continue'])
            code, answer = client.request('GET', '%s?limit=2&continue=%s' % (self.resource.path, token))
            assert code == 200, answer
            call.pages.append(answer)
        if call.code == 200:
            for item in (i for page in call.pages for i in page['items']):
                self.known.setdefault(item['metadata']['name'], dict(item, apiVersion=self.resource.api_version, kind=self.resource.kind))


VERBS = ['create', 'create', 'update', 'update', 'update', 'patch', 'patch', 'patch', 'apply', 'apply', 'delete', 'collection', 'get', 'list', 'list']

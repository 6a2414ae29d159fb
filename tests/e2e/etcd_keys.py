"""Reads and writes the keys of an etcd directly, by its JSON gateway."""
import base64
import json
import urllib.request


class Keys:
    """The keys of one etcd."""

    def __init__(self, etcd):
        self.url = etcd.url

    def call(self, what, **body):
        request = urllib.request.Request(self.url + '/v3/' + what, json.dumps(body).encode(), {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    @staticmethod
    def text(data):
        return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()

    def all(self, prefix='/registry/'):
        """{key: (value, modRevision)}"""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = self.call('kv/range', key=self.text(prefix), range_end=self.text(end)).get('kvs', [])
        return {base64.b64decode(kv['key']).decode(): (base64.b64decode(kv.get('value', '')), int(kv['mod_revision'])) for kv in found}

    def put(self, key, value):
        return int(self.call('kv/put', key=self.text(key), value=self.text(value))['header']['revision'])

    def put_all(self, values):
        """[(key, value)…], several per request, which is limited to 1.5 MiB."""
        for begin in range(0, len(values), 20):
            self.call('kv/txn', success=[{'requestPut': {'key': self.text(key), 'value': self.text(value)}} for key, value in values[begin:begin + 20]])

    def remove(self, key):
        self.call('kv/deleterange', key=self.text(key))

    def revision(self):
        return int(self.call('kv/range', key=self.text('/'), count_only=True)['header']['revision'])

"""Schemas of built-in kinds as kube-apiserver publishes them (/openapi/v3), in the form that schema_objects makes objects of."""
import re

WELL_KNOWN = {'Quantity': {'type': 'string', 'enum': ['1', '100m', '1Gi', '0', '-1', '1.5', '10e3', '2Ki', '0.0001', 'x']},
              'IntOrString': {'x-kubernetes-int-or-string': True}}


class Schemas:
    """The schemas of all group versions of a server, read at their first use.  References are resolved in place: schemas may be cyclic."""

    def __init__(self, server):
        self.server, self.documents = server, {}

    def of(self, api_version, kind):
        path = ('apis/' if '/' in api_version else 'api/') + api_version
        if path not in self.documents:
            status, _, document = self.server.request('GET', '/openapi/v3/' + path)
            self.documents[path] = self.resolved(document['components']['schemas'] if status == 200 else {})
        group, _, version = api_version.rpartition('/')
        wanted = {'group': group, 'version': version, 'kind': kind}
        for schema in self.documents[path].values():
            if wanted in schema.get('x-kubernetes-group-version-kind', ()):
                return schema
        return {}

    @staticmethod
    def resolved(schemas):
        done = {}

        def of(schema):
            parts = [schema] + schema.get('allOf', [])
            for part in parts:
                if '$ref' in part:
                    return named(part['$ref'].rpartition('/')[2])
            return filled(dict(schema), schema)

        def filled(out, schema):
            if 'properties' in schema:
                out['properties'] = {name: of(below) for name, below in schema['properties'].items()}
            for word in ('items', 'additionalProperties'):
                if isinstance(schema.get(word), dict):
                    out[word] = of(schema[word])
            return out

        def named(name):
            short = name.rpartition('.')[2]
            if short in WELL_KNOWN:
                return WELL_KNOWN[short]
            if name not in done:
                done[name] = dict(schemas[name])
                filled(done[name], schemas[name])
            return done[name]

        return {name: named(name) for name in schemas}


class Words:
    """Values that members of a name have had in the recordings: valid values for generated members."""

    def __init__(self, objects):
        self.seen = {}
        for value in objects:
            self.learn(value)

    def learn(self, value, name=''):
        if isinstance(value, dict):
            for key, below in value.items():
                self.learn(below, key)
        if isinstance(value, list):
            for below in value:
                self.learn(below, name)
        elif name and value not in self.seen.setdefault(name, []) and not (isinstance(value, str) and re.match(r'<\w+>$', value)):
            self.seen[name].append(value)

    def of(self, pointer, rng):
        """A value, or None if there is none."""
        names = [part for part in pointer.split('/') if not part.isdigit()]
        return rng.choice(self.seen[names[-1]]) if names and self.seen.get(names[-1]) else None

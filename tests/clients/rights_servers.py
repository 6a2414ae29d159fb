"""A real kube-apiserver and the built server with the users, roles and nodes of the rights tables, and the comparison of their answers."""
import collections
import json
import os
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rights_nodes  # noqa: E402
import rights_tables as tables  # noqa: E402
import rights_users  # noqa: E402
from kube_apiserver import SideBySide, harness  # noqa: E402
from recordings_test import HEADERS, differences, in_any_order, parsed  # noqa: E402

SECONDS = 120   # seconds until the caches of a server contain the writes
AGAIN = 5       # seconds during which responses may still change with these caches
# kube-apiserver names one of several bindings that allow a request, in the order of a map: one of two may be as rare as 1 : 250.
TRIES = 3000
LONGEST = 60    # seconds
Answer = collections.namedtuple('Answer', 'status headers body')
MEDIA_TYPES = {'PATCH': tables.MERGE, 'APPLY': 'application/apply-patch+yaml'}


class RightsSideBySide(SideBySide):
    connections = {}  # by the name of the server

    @classmethod
    def start_flags(cls):
        tokens = os.path.join(cls.pki.dir, 'tokens.csv')
        rights_users.write_tokens(tokens)
        return ('--authorization-mode=Node,RBAC', '--token-auth-file=' + tokens, '--runtime-config=api/all=true')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        items = [('/api/v1/namespaces', rights_nodes.named('v1', 'Namespace', name)) for name in rights_users.NAMESPACES]
        items += [(rights_users.path_of(item), item) for item in rights_users.objects()] + rights_nodes.OBJECTS
        for server in cls.servers:
            cls.fill_aggregated_roles(server)
            for path, item in items:
                code, _, answer = server.request('POST', path, item)
                assert code == 201, (server.name, path, answer)
            for path in rights_nodes.GRAPH_IS_COMPLETE:
                cls.wait_for_status(server, 'system:node:n1', path, 200)
            cls.wait_for_status(server, 'system:bootstrap:abcdef', '/apis/certificates.k8s.io/v1/certificatesigningrequests', 200)

    @staticmethod
    def fill_aggregated_roles(server):
        """Fills view, edit and admin in this order, like kube-controller-manager."""
        path = rights_users.RBAC_PATH + 'clusterroles'
        for name in ('view', 'edit', 'admin'):
            label = '%s/aggregate-to-%s=true' % (rights_users.RBAC, name)
            rules = []
            for item in server.request('GET', path + '?labelSelector=' + urllib.parse.quote(label))[2]['items']:
                rules += [rule for rule in item['rules'] or [] if rule not in rules]
            code, _, answer = server.request('PATCH', '%s/%s' % (path, name), {'rules': rules}, {'Content-Type': tables.MERGE})
            assert code == 200 and rules, answer

    @classmethod
    def wait_for_status(cls, server, user, path, status):
        got = harness.wait_for(lambda: cls.ask(server, user, 'GET', path, None).status == status, SECONDS)
        assert got, (server.name, user, path, cls.ask(server, user, 'GET', path, None))

    @classmethod
    def ask(cls, server, user, method, path, body, headers=()):
        """`user`: a name of rights_users, or a token, or {server's name: token}; none: anonymous."""
        user = user.get(server.name) if isinstance(user, dict) else user
        connection = cls.connections.get(server.name) or server.connect(certificate=False)
        cls.connections[server.name] = connection
        raw = b'' if body is None else json.dumps(body).encode()
        token = rights_users.token(user) if user in rights_users.users() else user
        send = [*([('Authorization', 'Bearer ' + token)] if token else []), ('Content-Type', MEDIA_TYPES.get(method, 'application/json')),
                ('User-Agent', 'tester/1'), ('Content-Length', str(len(raw))), *headers]
        connection.putrequest({'APPLY': 'PATCH'}.get(method, method), path)
        for name, value in send:
            connection.putheader(name, value)
        connection.endheaders(raw)
        response = connection.getresponse()
        raw = response.read()
        if response.will_close:
            connection.close()
        kept = {key.lower(): value for key, value in response.getheaders() if key.lower() in HEADERS}
        return Answer(response.status, kept, in_any_order(parsed(kept.get('content-type'), raw)))

    @staticmethod
    def compared(answer):
        """The part of a response that depends on rights: all of a refusal and of a review."""
        body = answer.body
        if isinstance(body, dict) and answer.status < 300 and 'Review' not in str(body.get('kind')):
            body = {'kind': body.get('kind')}
        elif answer.status < 300 and not isinstance(body, dict):
            body = None
        return {'status': answer.status, 'headers': answer.headers if answer.status >= 300 else {}, 'body': body}

    def difference(self, user, row, headers):
        want, got = (self.compared(self.ask(server, user, *row, headers)) for server in self.servers)
        return differences(want, got)

    def becomes_same(self, user, row, headers, found):
        """A cache may be behind, and kube-apiserver names any of several bindings that allow a request."""
        names_another = len(found) == 1 and found[0].startswith('body/body/status/reason: got "RBAC: allowed by')
        if not names_another:
            return harness.wait_for(lambda: not self.difference(user, row, headers), AGAIN)
        end = time.monotonic() + LONGEST
        return any(not self.difference(user, row, headers) for _ in range(TRIES) if time.monotonic() < end)

    def compare(self, rows):
        """Each row: (user, (method, path, body), headers)."""
        reports, asked = [], 0
        for user, row, headers in rows:
            asked += 1
            found = self.difference(user, row, headers)
            if found and not self.becomes_same(user, row, headers, found):
                reports.append('%s %s %s %s %s: %s' % (user if isinstance(user, str) else type(user).__name__, row[0], row[1],
                    json.dumps(row[2])[:250], headers or '', '; '.join(found[:3])))
        print('%s: %d of %d answers differ' % (self.id().rsplit('.', 1)[1], len(reports), asked), *reports, sep='\n  ', file=sys.stderr)
        self.assertGreater(asked, 0)
        self.assertEqual(reports, [])

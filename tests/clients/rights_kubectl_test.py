"""kubectl against a real kube-apiserver and the built server, as each of upstream's default users: auth whoami, auth can-i, create token,
--as, certificate approve and deny print the same and end with the same code.  The claims of tokens are the same."""
import base64
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rights_users  # noqa: E402
from rights_nodes import named  # noqa: E402
from rights_servers import RightsSideBySide, differences, harness  # noqa: E402

CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
USERS = (*rights_users.DEFAULT_USERS, *(role + where for role in rights_users.ROLES for where in ('-in-work', '-everywhere')),
         *map(rights_users.account, ('deployment-controller', 'namespace-controller', 'generic-garbage-collector')))
COMMANDS = [line.split() for line in (
    'auth whoami', 'auth can-i --list -n work', 'auth can-i get pods -n work', 'auth can-i create pods/exec -n other', 'auth can-i get /metrics',
    'create token runner -n work', 'get secrets -n work', 'get nodes n1 -o name')]
AS = [line.split() for line in (
    'auth whoami --as=alice', 'auth whoami --as=alice --as-group=dev', 'auth whoami --as=alice --as-uid=u1',
    'auth whoami --as=alice --as-group=system:masters',
    'auth whoami --as=system:serviceaccount:work:default', 'auth whoami --as=system:node:n1', 'get pods -n work --as=view-in-work',
    'auth can-i --list -n work --as=edit-in-work', 'auth whoami --as-group=dev')]
ACTORS = ('kubernetes-admin', 'nobody', 'as-alice', 'as-users-and-dev', 'as-all', 'as-accounts', 'user-info', 'user-info-groups', 'mode-account',
    'arbitrary-node',
          'everything', 'admin-in-work')
TOKENS = [line.split() for line in (
    'runner', 'runner --audience=a --audience=b', 'runner --duration=1h', 'runner --duration=1m', 'runner --duration=99999999h', 'missing',
    'runner --bound-object-kind=Pod --bound-object-name=one', 'runner --bound-object-kind=Pod --bound-object-name=two',
    'runner --bound-object-kind=Secret --bound-object-name=used',
    'runner --bound-object-kind=Pod --bound-object-name=one --bound-object-uid=x', 'runner --bound-object-kind=Node --bound-object-name=n1',
    'runner --bound-object-kind=Pod --bound-object-name=missing')]


def scrubbed(text):
    text = re.sub(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<uid>', text)
    text = re.sub(r'eyJ[\w-]+\.[\w-]+\.[\w-]+', '<token>', text)
    return re.sub(r'\b(?:\d+[smhd])+\b|127\.0\.0\.1:\d+', '<x>', text)


def without_order(lines):
    """Lines of a table of rules, and the words of each list in them: kube-apiserver lists bindings in any order."""
    return sorted(re.sub(r'\[([^]]*)\]', lambda found: ' '.join(sorted(found[1].split())), line) for line in lines)


def claims(token):
    """Claims without what two servers cannot share."""
    head, body = (json.loads(base64.urlsafe_b64decode(part + '==')) for part in token.strip().split('.')[:2])
    life = body['exp'] - body['iat']
    text = json.dumps([head, {key: value for key, value in body.items() if key not in ('exp', 'iat', 'nbf', 'warnafter')}, life])
    return json.loads(scrubbed(text))


@unittest.skipUnless(harness.kubectls(), 'no kubectl on the PATH')
class RightsKubectl(RightsSideBySide):
    def kubectl(self, server, user, arguments, stdin=None):
        """(exit code, stdout, stderr), scrubbed."""
        command = [harness.kubectls()[0], '--server=https://127.0.0.1:%d' % server.port, '--insecure-skip-tls-verify', '--kubeconfig=/dev/null',
                   '--cache-dir=' + os.path.join(self.pki.dir, server.name), *arguments]
        if user:
            command.append('--token=' + rights_users.token(user))
        else:
            command += ['--client-certificate=' + self.pki.client, '--client-key=' + self.pki.key]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)
        lines = scrubbed(done.stdout).splitlines()
        return [done.returncode, without_order(lines) if '--list' in arguments else lines, scrubbed(done.stderr).splitlines()], done.stdout

    def compare(self, rows):
        """Rows: (user, arguments)."""
        reports = []
        for user, arguments in rows:
            (want, theirs), (got, ours) = (self.kubectl(server, user, arguments) for server in self.servers)
            found = differences(want, got)
            if not found and theirs.startswith('eyJ'):
                found = differences(claims(theirs), claims(ours))
            reports += ['%s %s: %s' % (user, ' '.join(arguments), '; '.join(found[:3]))] if found else []
        print('%s: %d of %d differ' % (self.id().rsplit('.', 1)[1], len(reports), len(rows)), *reports, sep='\n  ', file=sys.stderr)
        self.assertEqual(reports, [])

    def test_upstreams_users(self):
        self.compare([(user, command) for user in USERS for command in COMMANDS])

    def test_a_client_certificate(self):
        self.compare([(None, command) for command in (*COMMANDS, *AS)])

    def test_acting_as_others(self):
        self.compare([(user, command) for user in ACTORS for command in AS])

    def test_tokens(self):
        self.compare([(user, ['create', 'token', *options, '-n', 'work']) for options in TOKENS
            for user in ('kubernetes-admin', 'token-maker', 'edit-in-work')])

    def test_tokens_are_reviewed_alike(self):
        reports = []
        for options in TOKENS[:3] + TOKENS[6:7]:
            answers = []
            for server in self.servers:
                _, token = self.kubectl(server, 'kubernetes-admin', ['create', 'token', *options, '-n', 'work'])
                for audiences in ([], ['a'], ['c']):
                    body = named('authentication.k8s.io/v1', 'TokenReview', '', spec={'token': token.strip(), 'audiences': audiences})
                    _, _, answer = server.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)
                    answer['spec'].pop('token', None)
                    answers.append(json.loads(scrubbed(json.dumps([options, audiences, answer.get('status', answer)]))))
            half = len(answers) // 2
            reports += [text for want, got in zip(answers[:half], answers[half:]) for text in differences(want, got)]
        self.assertEqual(reports, [])

    def request(self, name, signer):
        """A CertificateSigningRequest in YAML's subset JSON."""
        pem = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null',
            '-subj', '/CN=joe'],
                             capture_output=True, check=True).stdout
        return named('certificates.k8s.io/v1', 'CertificateSigningRequest', name, spec={
            'request': base64.b64encode(pem).decode(), 'signerName': signer, 'usages': ['client auth'], 'expirationSeconds': 3600})

    def test_certificate_requests(self):
        for name in ('one', 'two', 'three'):
            body = self.request(name, 'example.com/s')
            for server in self.servers:
                code, _, answer = server.request('POST', CSRS, body)
                self.assertEqual(code, 201, answer)
        self.compare([(user, ['certificate', verb, name]) for user, verb, name in (
            ('nobody', 'approve', 'one'), ('view-everywhere', 'deny', 'one'), ('approver', 'approve', 'one'), ('approver', 'approve', 'one'),
            ('approver', 'deny', 'one'), ('kubernetes-admin', 'deny', 'two'), ('kubernetes-admin', 'approve', 'two'),
            ('kubernetes-admin', 'deny', 'two'),
            ('kubernetes-admin', 'approve', 'missing'), ('nobody', 'deny', 'three'), ('system:kube-controller-manager', 'approve', 'three'))])
        self.compare([('kubernetes-admin',
            ['get', 'csr', '-o', 'custom-columns=N:.metadata.name,U:.spec.username,C:.status.conditions[*].type,R:.status.conditions[*].reason,'
                                            'M:.status.conditions[*].message'])])


if __name__ == '__main__':
    unittest.main(verbosity=2)

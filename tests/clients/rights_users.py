"""Users, roles and bindings of the rights tests, the same on each server.

Every user has a token of --token-auth-file, so that no request of the tables needs impersonation."""
import csv

RBAC = 'rbac.authorization.k8s.io'
RBAC_PATH = '/apis/%s/v1/' % RBAC
NAMESPACES = ('work', 'other')
AUTHENTICATION = 'authentication.k8s.io'

# Upstream's users and groups: name → groups.  --token-auth-file adds system:authenticated.
DEFAULT_USERS = {
    'kubernetes-admin': ('system:masters',),
    'system:node:n1': ('system:nodes',),
    'system:node:n2': ('system:nodes',),
    'not-a-node': ('system:nodes',),
    'system:node:groupless': (),
    'system:kube-scheduler': (),
    'system:kube-controller-manager': (),
    'system:kube-proxy': (),
    'system:volume-scheduler': (),
    'system:bootstrap:abcdef': ('system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'),
    'system:monitoring-user': ('system:monitoring',),
    'system:serviceaccount:work:default': ('system:serviceaccounts', 'system:serviceaccounts:work'),
    'nobody': (),
}
# Users bound to upstream's roles: in the namespace work, and everywhere.
ROLES = ('view', 'edit', 'admin', 'cluster-admin')
CONTROLLERS = (
    'attachdetach-controller', 'certificate-controller', 'clusterrole-aggregation-controller', 'cronjob-controller', 'daemon-set-controller',
    'deployment-controller', 'device-taint-eviction-controller', 'disruption-controller', 'endpoint-controller', 'endpointslice-controller',
    'endpointslicemirroring-controller', 'ephemeral-volume-controller', 'expand-controller', 'generic-garbage-collector',
    'horizontal-pod-autoscaler', 'job-controller', 'legacy-service-account-token-cleaner', 'namespace-controller', 'node-controller',
    'persistent-volume-binder', 'pod-garbage-collector', 'pv-protection-controller', 'pvc-protection-controller', 'replicaset-controller',
    'replication-controller', 'resource-claim-controller', 'resourcequota-controller', 'root-ca-cert-publisher',
    'selinux-warning-controller', 'service-account-controller', 'service-cidrs-controller', 'service-controller', 'statefulset-controller',
    'storage-version-migrator-controller', 'ttl-after-finished-controller', 'ttl-controller', 'validatingadmissionpolicy-status-controller',
    'volumeattributesclass-protection-controller', 'bootstrap-signer', 'token-cleaner', 'node-bootstrapper')


def account(name, namespace='kube-system'):
    return 'system:serviceaccount:%s:%s' % (namespace, name)


def rule(verbs, resources=(), groups=('',), names=(), urls=()):
    out = {'verbs': list(verbs)}
    if urls:
        return dict(out, nonResourceURLs=list(urls))
    out.update(apiGroups=list(groups), resources=list(resources))
    return dict(out, resourceNames=list(names)) if names else out


WRITE = ('create', 'update', 'patch', 'delete')
RBAC_KINDS = ('roles', 'rolebindings', 'clusterroles', 'clusterrolebindings')
WRITE_RBAC = rule(('get', 'list') + WRITE, RBAC_KINDS, [RBAC])
READ_PODS = rule(('get', 'list'), ['pods'])

# Cluster roles, each bound in the whole cluster to a user of the same name.
CLUSTER_ROLES = {
    # escalation
    'granter': [WRITE_RBAC, READ_PODS, rule(['get'], ['configmaps'], names=['a', 'b']), rule(['get'], urls=['/logs/*']),
                rule(['get'], ['deployments/scale', 'pods/*'], ['apps', ''])],
    'binder': [WRITE_RBAC, rule(['bind'], ['clusterroles'], [RBAC], ['view']), rule(['bind'], ['roles'], [RBAC], ['secret-reader'])],
    'escalator': [WRITE_RBAC, rule(['escalate'], ['roles', 'clusterroles'], [RBAC])],
    'named-escalator': [WRITE_RBAC, rule(['escalate'], ['clusterroles'], [RBAC], ['mine'])],
    'everything': [rule(['*'], ['*'], ['*'])],
    'urls': [rule(['get'], urls=['/metrics', '/healthz/*', '/apis*'])],
    # impersonation by the verb of the core group
    'as-alice': [rule(['impersonate'], ['users'], names=['alice'])],
    'as-users': [rule(['impersonate'], ['users'])],
    'as-users-and-dev': [rule(['impersonate'], ['users']), rule(['impersonate'], ['groups'], names=['dev', 'ops'])],
    'as-all': [rule(['impersonate'], ['users', 'groups', 'serviceaccounts']), rule(['impersonate'], ['uids', 'userextras/scopes'],
    [AUTHENTICATION])],
    'as-extras': [rule(['impersonate'], ['users']), rule(['impersonate'], ['userextras/scopes'], [AUTHENTICATION], ['view', 'edit'])],
    'as-accounts': [rule(['impersonate'], ['serviceaccounts'])],
    # impersonation constrained by a mode
    'user-info': [rule(['impersonate:user-info'], ['users'], [AUTHENTICATION]), rule(['impersonate-on:user-info:list'], ['pods']),
                  rule(['impersonate-on:user-info:create'], ['selfsubjectreviews'], [AUTHENTICATION])],
    'user-info-groups': [rule(['impersonate:user-info'], ['users', 'uids', 'userextras/example.com/scopes'], [AUTHENTICATION]),
                         rule(['impersonate:user-info'], ['groups'], [AUTHENTICATION], ['dev']),
                         rule(['impersonate-on:user-info:*'], ['pods']), rule(['impersonate-on:user-info:create'], ['*'], ['*'])],
    'user-info-all': [rule(['impersonate:user-info'], ['*'], [AUTHENTICATION]), rule(['impersonate-on:user-info:create'], ['*'], ['*'])],
    'user-info-alone': [rule(['impersonate:user-info'], ['users'], [AUTHENTICATION])],
    'mode-account': [rule(['impersonate:serviceaccount'], ['serviceaccounts'], [AUTHENTICATION]),
                     rule(['impersonate-on:serviceaccount:list', 'impersonate-on:serviceaccount:create'], ['*'], ['*'])],
    'arbitrary-node': [rule(['impersonate:arbitrary-node'], ['nodes'], [AUTHENTICATION], ['n1']),
                       rule(['impersonate-on:arbitrary-node:list', 'impersonate-on:arbitrary-node:create'], ['*'], ['*'])],
    'associated-node': [rule(['impersonate:associated-node'], ['nodes'], [AUTHENTICATION]),
                        rule(['impersonate-on:associated-node:list', 'impersonate-on:associated-node:create'], ['*'], ['*']),
                        rule(['impersonate-on:associated-node:get'], ['pods'])],
    # tokens and certificates
    'approver': [rule(['get', 'update'], ['certificatesigningrequests', 'certificatesigningrequests/approval'], ['certificates.k8s.io']),
                 rule(['approve'], ['signers'], ['certificates.k8s.io'], ['example.com/*'])],
    'token-maker': [rule(['create'], ['serviceaccounts/token'])],
}
# Roles in the namespace work, each bound to a user of the same name.
NAMESPACE_ROLES = {
    'secret-reader': [rule(['get', 'list'], ['secrets'])],
    'work-accounts': [rule(['impersonate'], ['serviceaccounts'], names=['default'])],
    'work-granter': [rule(('get',) + WRITE, ['roles', 'rolebindings'], [RBAC]), READ_PODS],
}


def upstream_users():
    """name → groups of the users to which upstream's roles are bound."""
    out = dict(DEFAULT_USERS)
    out.update({account(name): ('system:serviceaccounts', 'system:serviceaccounts:kube-system') for name in CONTROLLERS})
    for role in ROLES:
        out.update({role + '-in-work': (), role + '-everywhere': ()})
    return out


def users():
    """name → groups of every user with a token."""
    return dict(upstream_users(), **{name: () for name in (*CLUSTER_ROLES, *NAMESPACE_ROLES, 'lost')})


def write_tokens(path):
    """A file for --token-auth-file: the token of a user is its name."""
    with open(path, 'w', newline='', encoding='utf-8') as out:
        for name, groups in users().items():
            csv.writer(out).writerow([token(name), name, 'uid-of-' + name, *([','.join(groups)] if groups else [])])


def token(name):
    return 'token-of-' + name.replace(':', '.')


def role(name, rules, kind='ClusterRole', namespace=None, **more):
    metadata = dict({'name': name}, **({'namespace': namespace} if namespace else {}))
    return dict({'apiVersion': RBAC + '/v1', 'kind': kind, 'metadata': metadata, 'rules': rules}, **more)


def binding(name, to, *subjects, namespace=None, kind='ClusterRole'):
    metadata = dict({'name': name}, **({'namespace': namespace} if namespace else {}))
    return {'apiVersion': RBAC + '/v1', 'kind': 'RoleBinding' if namespace else 'ClusterRoleBinding', 'metadata': metadata,
            'roleRef': {'apiGroup': RBAC, 'kind': kind, 'name': to},
            'subjects': [{'apiGroup': RBAC, 'kind': 'User', 'name': name} for name in subjects]}


def path_of(item):
    namespace = item['metadata'].get('namespace')
    return RBAC_PATH + ('namespaces/%s/' % namespace if namespace else '') + item['kind'].lower() + 's'


def objects():
    """Roles and bindings in the order in which they are created."""
    out = [role(name, rules) for name, rules in CLUSTER_ROLES.items()]
    out += [binding(name, name, name) for name in CLUSTER_ROLES]
    for name, rules in NAMESPACE_ROLES.items():
        out += [role(name, rules, 'Role', 'work'), binding(name, name, name, namespace='work', kind='Role')]
    for name in ROLES:
        out += [binding(name, name, name + '-in-work', namespace='work'), binding(name + '-everywhere', name, name + '-everywhere')]
    out += [binding('lost', 'no-such-role', 'lost'), binding('lost-writer', 'granter', 'lost'),
            dict(binding('runner', 'associated-node'), subjects=[{'kind': 'ServiceAccount', 'namespace': 'work', 'name': 'runner'}]),
            binding('node-bootstrapper', 'system:node-bootstrapper', 'system:bootstrap:abcdef')]
    return out

"""Objects of two nodes, and the nodes' rights on them: the Node authorizer's graph."""
from rights_tables import DRY, MERGE, WORK  # noqa: F401

STORAGE = '/apis/storage.k8s.io/v1/'
RESOURCE = '/apis/resource.k8s.io/v1/'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/%s/leases'
CSI = {'driver': 'csi.example.com', 'volumeHandle': 'h', 'nodePublishSecretRef': {'name': 'publish', 'namespace': 'work'},
       'controllerPublishSecretRef': {'name': 'controller', 'namespace': 'work'}, 'nodeStageSecretRef': {'name': 'stage', 'namespace': 'other'}}
VOLUMES = [
    {'name': 'secret', 'secret': {'secretName': 'used'}}, {'name': 'map', 'configMap': {'name': 'used'}},
    {'name': 'claim', 'persistentVolumeClaim': {'claimName': 'claim'}}, {'name': 'inline', 'csi': {'driver': 'd',
    'nodePublishSecretRef': {'name': 'inline'}}},
    {'name': 'projected', 'projected': {'sources': [{'secret': {'name': 'projected'}}, {'configMap': {'name': 'projected'}},
                                                    {'serviceAccountToken': {'path': 't'}}]}},
    {'name': 'ephemeral', 'ephemeral': {'volumeClaimTemplate': {'spec': {'accessModes': ['ReadWriteOnce'],
    'resources': {'requests': {'storage': '1Gi'}}}}}},
    {'name': 'rbd', 'rbd': {'monitors': ['m'], 'image': 'i', 'secretRef': {'name': 'rbd'}}}]
CONTAINERS = [{'name': 'c', 'image': 'example.com/c:1', 'envFrom': [{'secretRef': {'name': 'env-from'}}, {'configMapRef': {'name': 'env-from'}}],
               'env': [{'name': 'A', 'valueFrom': {'secretKeyRef': {'name': 'env', 'key': 'k'}}},
               {'name': 'B', 'valueFrom': {'configMapKeyRef': {'name': 'env', 'key': 'k'}}}]}]
INIT = [{'name': 'i', 'image': 'example.com/c:1', 'env': [{'name': 'A', 'valueFrom': {'secretKeyRef': {'name': 'init', 'key': 'k'}}}]}]


def named(version, kind, name, namespace=None, **fields):
    metadata = dict({'name': name}, **({'namespace': namespace} if namespace else {}))
    return dict({'apiVersion': version, 'kind': kind, 'metadata': metadata}, **fields)


def pod(name, node, **spec):
    return (WORK + 'pods', named('v1', 'Pod', name, spec=dict({'nodeName': node, 'containers': [{'name': 'c', 'image': 'example.com/c:1'}]},
        **spec)))


SECRETS = ('used', 'unused', 'projected', 'env', 'env-from', 'init', 'inline', 'pull', 'publish', 'controller', 'rbd', 'ephemeral', 'on-two',
    'mentioned')
OBJECTS = [('/api/v1/nodes', named('v1', 'Node', name)) for name in ('n1', 'n2')] + [
    (WORK + 'secrets', named('v1', 'Secret', name)) for name in SECRETS] + [
    ('/api/v1/namespaces/other/secrets', named('v1', 'Secret', name)) for name in ('used', 'stage')] + [
    (WORK + 'configmaps', named('v1', 'ConfigMap', name)) for name in ('used', 'unused', 'projected', 'env', 'env-from')] + [
    (WORK + 'serviceaccounts', named('v1', 'ServiceAccount', name, **({'secrets': [{'name': 'mentioned'}]} if name == 'runner' else {})))
    for name in ('default', 'runner', 'idle')] + [
    ('/api/v1/persistentvolumes', named('v1', 'PersistentVolume', name, spec={
        'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'csi': CSI,
        'claimRef': {'kind': 'PersistentVolumeClaim', 'namespace': 'work', 'name': claim}})) for name,
        claim in (('pv', 'claim'), ('pv-unused', 'unused'))] + [
    (WORK + 'persistentvolumeclaims', named('v1', 'PersistentVolumeClaim', name, spec={
        'accessModes': ['ReadWriteOnce'], 'volumeName': pv, 'storageClassName': '', 'resources': {'requests': {'storage': '1Gi'}}}))
    for name, pv in (('claim', 'pv'), ('unused', 'pv-unused'))] + [
    (STORAGE + 'volumeattachments', named('storage.k8s.io/v1', 'VolumeAttachment', 'va-' + node, spec={
        'attacher': 'csi.example.com', 'nodeName': node, 'source': {'persistentVolumeName': 'pv'}})) for node in ('n1', 'n2')] + [
    (STORAGE + 'csinodes', named('storage.k8s.io/v1', 'CSINode', node, spec={'drivers': []})) for node in ('n1', 'n2')] + [
    (LEASES % 'kube-node-lease', named('coordination.k8s.io/v1', 'Lease', node)) for node in ('n1', 'n2')] + [
    (RESOURCE + 'resourceslices', named('resource.k8s.io/v1', 'ResourceSlice', 'slice-' + node, spec={
        'driver': 'd.example.com', 'nodeName': node, 'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1}, 'devices': []}))
        for node in ('n1', 'n2')] + [
    (RESOURCE + 'namespaces/work/resourceclaims', named('resource.k8s.io/v1', 'ResourceClaim', name, spec={
        'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c'}}]}})) for name in ('wanted', 'unwanted')] + [
    pod('one', 'n1', serviceAccountName='runner', volumes=VOLUMES, containers=CONTAINERS, initContainers=INIT, imagePullSecrets=[{'name': 'pull'}],
        resourceClaims=[{'name': 'r', 'resourceClaimName': 'wanted'}]),
    pod('two', 'n2', volumes=[{'name': 's', 'secret': {'secretName': 'on-two'}}]),
    (WORK + 'pods', named('v1', 'Pod', 'mirror', spec={'nodeName': 'n1', 'containers': [{'name': 'c', 'image': 'example.com/c:1'}],
                                                       'volumes': [{'name': 's', 'secret': {'secretName': 'unused'}}]})),
]
OBJECTS[-1][1]['metadata']['annotations'] = {'kubernetes.io/config.mirror': 'x'}
NODES = ('system:node:n1', 'system:node:n2', 'not-a-node', 'system:node:groupless', 'nobody')
# The object that n1 may read once the graph knows all of the objects above.
GRAPH_IS_COMPLETE = [WORK + 'secrets/used', WORK + 'secrets/publish', '/api/v1/persistentvolumes/pv', STORAGE + 'volumeattachments/va-n1',
    WORK + 'pods/one',
                     RESOURCE + 'resourceslices/slice-n1', RESOURCE + 'namespaces/work/resourceclaims/wanted']


def verbs(path):
    return [(method, path + (DRY if method != 'GET' else ''), body) for method, body in (
        ('GET', None), ('PUT', {}), ('PATCH', {}), ('DELETE', None))]


def requests():
    out = [('GET', WORK + 'secrets/' + name, None) for name in (*SECRETS, 'missing')]
    out += [('GET', WORK + 'configmaps/' + name, None) for name in ('used', 'unused', 'projected', 'env', 'env-from', 'missing',
        'kube-root-ca.crt')]
    out += [('GET', WORK + kind + name, None) for kind in ('secrets', 'configmaps') for name in ('', '?fieldSelector=metadata.name%3Dused',
        '?fieldSelector=metadata.name%3Dunused')]
    out += [('GET', path, None) for path in (
        '/api/v1/namespaces/other/secrets/used', '/api/v1/namespaces/other/secrets/stage', '/api/v1/secrets', WORK + 'persistentvolumeclaims/claim',
        WORK + 'persistentvolumeclaims/unused', WORK + 'persistentvolumeclaims/one-ephemeral', WORK + 'persistentvolumeclaims',
        '/api/v1/persistentvolumes/pv',
        '/api/v1/persistentvolumes/pv-unused', '/api/v1/persistentvolumes', STORAGE + 'volumeattachments/va-n1',
        STORAGE + 'volumeattachments/va-n2',
        STORAGE + 'volumeattachments', '/api/v1/nodes', '/api/v1/nodes/n1', '/api/v1/nodes/n2', '/api/v1/nodes?fieldSelector=metadata.name%3Dn1',
        WORK + 'pods',
        '/api/v1/pods', '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1', '/api/v1/pods?fieldSelector=spec.nodeName%3D%3Dn2',
        '/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1',
        '/api/v1/pods?fieldSelector=spec.nodeName%3Dn1,status.phase%3DRunning', WORK + 'pods/one', WORK + 'pods/two', WORK + 'pods/mirror',
        WORK + 'pods/one/log',
        WORK + 'pods?fieldSelector=metadata.name%3Done', WORK + 'pods?fieldSelector=metadata.name%3Dtwo', WORK + 'serviceaccounts/runner',
        WORK + 'serviceaccounts/idle',
        WORK + 'serviceaccounts', RESOURCE + 'resourceslices', RESOURCE + 'resourceslices?fieldSelector=spec.nodeName%3Dn1',
        RESOURCE + 'resourceslices?fieldSelector=spec.nodeName%3Dn2',
        RESOURCE + 'namespaces/work/resourceclaims', RESOURCE + 'namespaces/work/resourceclaims/wanted',
        RESOURCE + 'namespaces/work/resourceclaims/unwanted',
        RESOURCE + 'deviceclasses', LEASES % 'kube-node-lease', LEASES % 'work' + '/n1', '/api/v1/services', '/api/v1/endpoints',
        STORAGE + 'csidrivers', STORAGE + 'storageclasses',
        '/apis/node.k8s.io/v1/runtimeclasses', '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        '/apis/certificates.k8s.io/v1/certificatesigningrequests/none',
        '/api/v1/namespaces/work', '/api/v1/replicationcontrollers', '/apis/apps/v1/deployments')]
    for path in (LEASES % 'kube-node-lease' + '/n1', STORAGE + 'csinodes/n1', RESOURCE + 'resourceslices/slice-n1', WORK + 'secrets/used',
        WORK + 'pods/one/status',
                 WORK + 'persistentvolumeclaims/claim/status', '/api/v1/nodes/n1/status', '/api/v1/nodes/n1', WORK + 'pods/one'):
        out += verbs(path)
    token = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {'expirationSeconds': 1}}
    out += [('POST', path + DRY, body) for path, body in (
        (WORK + 'serviceaccounts/runner/token', token), (WORK + 'serviceaccounts/idle/token', token),
        (WORK + 'serviceaccounts/missing/token', token),
        (WORK + 'pods', {}), (WORK + 'pods/one/eviction', {}), (WORK + 'pods/one/exec', None), (WORK + 'pods/one/binding', {}),
        (WORK + 'events', {}),
        ('/api/v1/nodes', {}), (LEASES % 'kube-node-lease', {}), (LEASES % 'work', {}), (STORAGE + 'csinodes', {}),
        (RESOURCE + 'resourceslices', {}),
        ('/apis/certificates.k8s.io/v1/certificatesigningrequests', {}), (WORK + 'secrets', {}),
        ('/apis/authorization.k8s.io/v1/subjectaccessreviews', {}),
        ('/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {}}), (WORK + 'services', {}))]
    out += [('DELETE', RESOURCE + 'resourceslices?dryRun=All', None),
        ('DELETE', RESOURCE + 'resourceslices?dryRun=All&fieldSelector=spec.nodeName%3Dn1', None)]
    return out

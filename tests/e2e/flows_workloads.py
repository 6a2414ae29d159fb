"""Flows of workloads and nodes: rollouts, scale, set, wait, expose, drain, delete."""
from flows import Call, Flow, Gone, Has, K
from flows_apply import DEPLOYMENT, configmap

WEB = '/apis/apps/v1/namespaces/{ns}/deployments/web'


def replicaset(number):
    """Creates it like the deployment controller."""
    labels = {'app': 'web', 'pod-template-hash': 'h%d' % number}
    return Call('POST', '/apis/apps/v1/namespaces/{ns}/replicasets', {
        'metadata': {'name': 'web-%d' % number, 'labels': labels, 'annotations': {'deployment.kubernetes.io/revision': str(number)}, 'ownerReferences': [
            {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web', 'uid': '{uid:deploy/web}', 'controller': True}]},
        'spec': {'replicas': 0, 'selector': {'matchLabels': labels}, 'template': {'metadata': {'labels': labels}, 'spec': {
            'containers': [{'name': 'c', 'image': 'example.com/c:%d' % number}]}}}})


def revision(number):
    """Creates it like the daemon set controller."""
    return Call('POST', '/apis/apps/v1/namespaces/{ns}/controllerrevisions', {
        'metadata': {'name': 'agent-%d' % number, 'labels': {'app': 'agent'}, 'ownerReferences': [
            {'apiVersion': 'apps/v1', 'kind': 'DaemonSet', 'name': 'agent', 'uid': '{uid:ds/agent}', 'controller': True}]},
        'revision': number, 'data': {'spec': {'template': {'$patch': 'replace', 'metadata': {'labels': {'app': 'agent'}}, 'spec': {
            'containers': [{'name': 'c', 'image': 'example.com/c:%d' % number}]}}}}})


DAEMONS = DEPLOYMENT.replace('Deployment', 'DaemonSet').replace('web', 'agent').replace('  replicas: 2\n', '')
READY = {'status': {'observedGeneration': 1, 'replicas': 2, 'updatedReplicas': 2, 'readyReplicas': 2, 'availableReplicas': 2,
                    'conditions': [{'type': 'Available', 'status': 'True'}]}}
POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: p}}\nspec: {containers: [{name: c, image: i, ports: [{containerPort: 80}]}]%s}\n'
NODE = Call('POST', '/api/v1/nodes', {'metadata': {'name': '{ns}', 'labels': {'kubernetes.io/hostname': '{ns}'}}, 'status': {
    'conditions': [{'type': 'Ready', 'status': 'True'}], 'allocatable': {'pods': '10'}, 'capacity': {'pods': '10'}}})
ON_NODE = POD % ('p', ', nodeName: "{ns}"')
IMAGE = '{.spec.template.spec.containers[0].image}'
OWNED = Call('POST', '/api/v1/namespaces/{ns}/configmaps', {'metadata': {'name': 'owned', 'ownerReferences': [
    {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web', 'uid': '{uid:deploy/web}', 'blockOwnerDeletion': True}]}})

FLOWS = [
    Flow('rollout history and undo', K('create -f -', DEPLOYMENT), replicaset(1), replicaset(2),
         K('rollout history deploy/web', says=['deployment.apps/web', '1', '2']),
         K('rollout history deploy/web --revision=2', says=['revision #2', 'example.com/c:2']),
         K('set image deploy/web c=example.com/c:2'),
         K('rollout undo deploy/web --to-revision=1 --dry-run=server', says='dry run'), Has('deploy web', IMAGE, 'example.com/c:2'),
         K('rollout undo deploy/web --to-revision=1', says='deployment.apps/web rolled back'), Has('deploy web', IMAGE, 'example.com/c:1'),
         Has('deploy web', '{.spec.template.metadata.labels}', '{"app":"web"}'),
         K('rollout undo deploy/web --to-revision=1', says='skipped rollback'), K('rollout undo deploy/web --to-revision=7', code=1, says='7')),
    Flow('rollout history of a daemon set', K('create -f -', DAEMONS), revision(1), revision(2), K('rollout history ds/agent', says=['1', '2']),
         K('rollout history ds/agent --revision=2', says='example.com/c:2'), K('rollout undo ds/agent --to-revision=2', says='rolled back'),
         Has('ds agent', IMAGE, 'example.com/c:2')),
    Flow('rollout restart, pause, resume', K('create -f -', DEPLOYMENT), K('rollout restart deploy/web', says='restarted'),
         K("get deploy web -o jsonpath='{.spec.template.metadata.annotations}'", says='kubectl.kubernetes.io/restartedAt'),
         K('rollout pause deploy/web', says='paused'), Has('deploy web', '{.spec.paused}', 'true'),
         K('rollout restart deploy/web', code=1, says='paused'), K('rollout resume deploy/web', says='resumed'), Has('deploy web', '{.spec.paused}', '')),
    Flow('rollout status', K('create -f -', DEPLOYMENT), K('rollout status deploy/web --watch=false', says='Waiting for deployment'),
         K('rollout status deploy/web --timeout=5s', code=1, says='timed out'), Call('PATCH', WEB + '/status', READY),
         K('rollout status deploy/web --timeout=60s', says='successfully rolled out')),
    Flow('scale', K('create -f -', DEPLOYMENT), K('scale deploy web --replicas=3', says='deployment.apps/web scaled'), Has('deploy web', '{.spec.replicas}', '3'),
         K('scale deploy web --current-replicas=2 --replicas=5', code=1, says='Expected replicas to be 2, was 3'),
         K('scale deploy web --resource-version=1 --replicas=5', code=1, says='esource version'),
         K('scale --current-replicas=3 --replicas=0 deploy/web'), Has('deploy web', '{.spec.replicas}', '0'),
         K('create -f -', DEPLOYMENT.replace('Deployment', 'StatefulSet').replace('web', 'db').replace('  replicas', '  serviceName: db\n  replicas')),
         K('scale sts/db deploy/web --replicas=4', says=['db', 'web']), Has('sts db', '{.spec.replicas}', '4')),
    Flow('wait', K('create -f -', DEPLOYMENT), K('wait deploy/web --for=condition=Available --timeout=5s', code=1, says='timed out waiting'),
         Call('PATCH', WEB + '/status', READY), K('wait deploy/web --for=condition=Available --timeout=60s', says='condition met'),
         K('wait deploy --all --for=condition=available=true --timeout=60s', says='deployment.apps/web condition met'),
         K("wait deploy/web --for=jsonpath='{.status.readyReplicas}'=2 --timeout=60s", says='condition met', since=23),
         K("wait deploy/web --for=jsonpath='{.status.readyReplicas}' --timeout=60s", says='condition met', since=31),
         K('wait deploy/web --for=create --timeout=60s', says='condition met', since=31),
         K('delete deploy web'), K('wait deploy/web --for=delete --timeout=60s', since=24),
         K('wait deploy/web --for=condition=Available --timeout=60s', code=1, says='NotFound')),
    Flow('set', K('create -f -', DEPLOYMENT), K('set image deploy/web c=example.com/c:3', says='image updated'), Has('deploy web', IMAGE, 'example.com/c:3'),
         K('set env deploy/web A=1 B=2', says='env updated'), K('set env deploy/web --list', says=['A=1', 'B=2']), K('set env deploy/web A-'),
         Has('deploy web', '{.spec.template.spec.containers[0].env}', '[{"name":"B","value":"2"}]'),
         K('create -f -', configmap('c', '{key: v}')), K('set env deploy/web --from=configmap/c --prefix=X_'),
         K("get deploy web -o jsonpath='{.spec.template.spec.containers[0].env[*].name}'", says='X_KEY'),
         K('set resources deploy/web --limits=cpu=200m,memory=512Mi --requests=cpu=100m', says='resource requirements updated'),
         Has('deploy web', '{.spec.template.spec.containers[0].resources.limits.cpu}', '200m'),
         K('set serviceaccount deploy/web robot', says='serviceaccount updated'), Has('deploy web', '{.spec.template.spec.serviceAccountName}', 'robot')),
    Flow('set selector, set subject', K('create service clusterip s --tcp=80:8080'), K('set selector svc/s app=other', says='selector updated'),
         Has('svc s', '{.spec.selector}', '{"app":"other"}'), K('create rolebinding b --role=r --user=one'),
         K('set subject rolebinding/b --user=two', says='subjects updated'), Has('rolebinding b', '{.subjects[*].name}', 'one two')),
    Flow('autoscale', K('create -f -', DEPLOYMENT), K('autoscale deploy web --min=2 --max=5 --cpu=80%', says='autoscaled', since=34),
         K('autoscale deploy web --min=2 --max=5 --cpu-percent=80', says='autoscaled', until=34),
         Has('hpa web', '{.spec.minReplicas}-{.spec.maxReplicas} {.spec.scaleTargetRef.name}', '2-5 web'), K('get hpa', says='Deployment/web')),
    Flow('expose', K('create -f -', DEPLOYMENT), K('expose deploy web --port=80 --target-port=8080', says='service/web exposed'),
         Has('svc web', '{.spec.selector.app} {.spec.ports[0].targetPort}', 'web 8080'),
         K('expose svc web --name=other --port=81 --type=NodePort'), Has('svc other', '{.spec.type} {.spec.ports[0].port}', 'NodePort 81'),
         K('create -f -', POD % ('p', '')), K('expose pod p --name=p --port=80'), Has('svc p', '{.spec.selector}', '{"app":"p"}')),
    Flow('labels', K('create -f -', configmap('c', '{}') + configmap('d', '{}')), K('label cm c a=1 b=2', says='labeled'),
         K('label cm c a=3', code=1, says="already has a value (1), and --overwrite is false"), K('label cm c a=3 --overwrite'),
         K('label cm c b-', says='configmap/c'), Has('cm c', '{.metadata.labels}', '{"a":"3"}'), K('label cm --all all=x'), Has('cm d', '{.metadata.labels.all}', 'x'),
         K('label cm c --list', says='a=3'), K('label cm c e=f --resource-version=1', code=1, says='Conflict'),
         K('label cm c bad/label/x=1', code=1), K('get cm -l a=3 -o name', says='configmap/c', lacks='configmap/d'),
         K("get cm -l 'a in (3,4),!none' -L a", says=['A', 'c', '3'])),
    Flow('annotations', K('create -f -', configmap('c', '{}')), K('annotate cm c a=1', says='annotated'), K('annotate cm c a=2', code=1, says='overwrite'),
         K('annotate cm c a=2 --overwrite'), K('annotate cm c --list', says='a=2', since=21), K('annotate cm c a-'), Has('cm c', '{.metadata.annotations}', '')),
    Flow('taints', NODE, K('taint node {ns} k=v:NoSchedule', says='node/{ns} tainted'), Has('node {ns}', '{.spec.taints[0].effect}', 'NoSchedule'),
         K('taint node {ns} k=w:NoSchedule', code=1, says='overwrite'), K('taint node {ns} k=w:NoSchedule --overwrite', says='modified'),
         Has('node {ns}', '{.spec.taints[0].value}', 'w'), K('taint node {ns} k-', says='untainted'), Has('node {ns}', '{.spec.taints[*].key}', 'node.kubernetes.io/not-ready')),
    Flow('cordon and drain', NODE, K('create -f -', ON_NODE), K('cordon {ns}', says='node/{ns} cordoned'), K('get node {ns}', says='Ready,SchedulingDisabled'),
         K('uncordon {ns}', says='uncordoned'), Has('node {ns}', '{.spec.unschedulable}', ''),
         K('drain {ns} --timeout=30s', code=1, says='cannot delete'),
         K('drain {ns} --force --grace-period=0 --timeout=60s', says=['evicting pod {ns}/p', 'pod/p evicted']), Gone('pod p'),
         Has('node {ns}', '{.spec.unschedulable}', 'true')),
    Flow('drain without evictions', NODE, K('create -f -', ON_NODE),
         K('drain {ns} --force --disable-eviction --grace-period=0 --timeout=60s', says='pod/p deleted'), Gone('pod p')),
    Flow('drain against a budget', NODE, K('create -f -', ON_NODE), Call('PATCH', '/api/v1/namespaces/{ns}/pods/p/status', {'status': {
        'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]}}), Call('POST', '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets', {
            'metadata': {'name': 'b'}, 'spec': {'minAvailable': 1, 'selector': {'matchLabels': {'app': 'p'}}}}),
         K('drain {ns} --force --timeout=10s', code=1, says='disruption budget'), Has('pod p', '{.metadata.deletionTimestamp}', '')),
    Flow('delete, orphans', K('create -f -', DEPLOYMENT), OWNED, K('delete deploy web --cascade=orphan --wait=false', says='deleted'),
         Has('deploy web', '{.metadata.finalizers}', '["orphan"]'), K("patch deploy web --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
         Gone('deploy web'), Has('cm owned', '{.metadata.name}', 'owned')),
    Flow('delete, foreground', K('create -f -', DEPLOYMENT), OWNED, K('delete deploy web --cascade=foreground --wait=false'),
         Has('deploy web', '{.metadata.finalizers}', '["foregroundDeletion"]'),
         K('apply -f -', DEPLOYMENT, says='Warning: Detected changes to resource web which is currently being deleted', since=21)),
    Flow('delete, background', K('create -f -', DEPLOYMENT), OWNED, K('delete deploy web --cascade=background'), Gone('deploy web')),
    Flow('delete, what', K('create -f -', ''.join(configmap(n, '{}', '{l: x}') for n in 'abcdef')), K('delete -f -', configmap('a', '{}'), says='configmap "a" deleted'),
         K('delete cm b c', says=['"b" deleted', '"c" deleted']), K('delete cm --field-selector=metadata.name=d'), Gone('cm d'), K('delete cm -l l=x', says='"e" deleted'),
         K('delete cm e', code=1, says='NotFound'), K('delete cm e --ignore-not-found'), K('create -f -', configmap('g', '{}')), K('delete cm --all'), Gone('cm g')),
    Flow('delete of a pod', K('create -f -', POD % ('p', ', nodeName: "n"')), K('delete pod p --wait=false', says='deleted'),
         Has('pod p', '{.metadata.deletionGracePeriodSeconds}', '30'), K('delete pod p --grace-period=0 --force', says='force deleted'), Gone('pod p')),
    Flow('run', K('run p --image=example.com/c:1 --labels=a=b --env=A=1 --port=80 -- sleep 1', says='pod/p created'),
         Has('pod p', '{.spec.containers[0].args} {.metadata.labels}', '["sleep","1"] {"a":"b"}'), K('run p --image=i', code=1, says='already exists')),
    Flow('debug', K('create -f -', POD % ('p', '')), K('debug p --image=busybox -c dbg --attach=false -- sleep 1', since=25),
         Has('pod p', '{.spec.ephemeralContainers[0].image}', 'busybox', since=25),
         K('debug p --copy-to=q --image=busybox -c dbg --attach=false', since=25), Has('pod q', '{.spec.containers[*].name}', 'c dbg', since=25)),
]

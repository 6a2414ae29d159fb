"""Further flows: repeated writes, watched deletions, concurrent changes, subresources and folders."""
from flows import Call, Flow, Gone, Has, K, Keeps
from flows_apply import DEPLOYMENT, MANAGERS, configmap, deployment
from flows_objects import SIX
from flows_workloads import DAEMONS, POD, READY, WEB

SET = DEPLOYMENT.replace('Deployment', 'StatefulSet').replace('web', 'db').replace('  replicas', '  serviceName: db\n  replicas')
IMAGE = '{.spec.template.spec.containers[0].image}'
HELD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, finalizers: [example.com/held]}\n'
FREE = K("patch cm c --type=merge -p '{\"metadata\":{\"finalizers\":null}}'", says='patched')
VERSION = '{.metadata.resourceVersion}'
NO_REPLICAS = DEPLOYMENT.replace('  replicas: 2\n', '')
BASE = {
    'base/kustomization.yaml': 'resources: [web.yaml]\nconfigMapGenerator:\n- {name: settings, literals: [k=v]}\n'
                               'secretGenerator:\n- {name: key, literals: [password=hunter2]}\n',
    'base/web.yaml': DEPLOYMENT.replace('image: "example.com/c:1"', 'image: "example.com/c:1", envFrom: [{configMapRef: {name: settings}}]'),
    'over/kustomization.yaml': 'resources: [../base]\nnameSuffix: -x\npatches:\n- {path: more.yaml}\n'
                               '- {target: {kind: Deployment}, patch: \'[{"op": "replace", "path": "/spec/replicas", "value": 7}]\'}\n',
    'over/more.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: c, env: [{name: A, value: "1"}]}]}}}\n',
}
FOLDER = {'all/a.yaml': configmap('a', '{k: v}'), 'all/deeper/b.yaml': configmap('b', '{k: v}'), 'all/c.json': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}'}


def set_revision(number):
    """Creates it like the controller of stateful sets."""
    return Call('POST', '/apis/apps/v1/namespaces/{ns}/controllerrevisions', {
        'metadata': {'name': 'db-%d' % number, 'labels': {'app': 'db'}, 'ownerReferences': [
            {'apiVersion': 'apps/v1', 'kind': 'StatefulSet', 'name': 'db', 'uid': '{uid:sts/db}', 'controller': True}]},
        'revision': number, 'data': {'spec': {'template': {'$patch': 'replace', 'metadata': {'labels': {'app': 'db'}}, 'spec': {
            'containers': [{'name': 'c', 'image': 'example.com/c:%d' % number}]}}}}})


FLOWS = [
    Flow('apply twice writes once', K('apply --server-side -f -', DEPLOYMENT), Keeps('deploy web', VERSION, K('apply --server-side -f -', DEPLOYMENT)),
         K('apply -f -', SET), Keeps('sts db', VERSION, K('apply -f -', SET, says='unchanged')),
         K('label deploy web a=b'), Keeps('deploy web', VERSION, K('label deploy web a=b --overwrite'),
                                          K('scale deploy web --replicas=2'), K("patch deploy web -p '{}'", says='no change'))),
    Flow('an edit in the way of an apply', K('apply --server-side -f -', DEPLOYMENT), K('edit deploy web', env={'KUBE_EDITOR': '{dir}/replicas'}, says='edited'),
         K('apply --server-side -f -', deployment(replicas=3), code=1, says=['conflict with "kubectl-edit"', '.spec.replicas'], since=21),
         K('apply --server-side --force-conflicts -f -', deployment(replicas=3)), Has('deploy web', '{.spec.replicas}', '3'),
         files={'replicas': '#!/bin/sh\nsed -i "s/replicas: 2/replicas: 6/" "$1"\n'}),
    Flow('a scaler takes the replicas over', K('apply --server-side --field-manager=owner -f -', DEPLOYMENT), K('scale deploy web --replicas=9'),
         K('apply --server-side --field-manager=owner -f -', NO_REPLICAS), Has('deploy web', '{.spec.replicas}', '9'),
         K('apply --server-side --field-manager=owner -f -', DEPLOYMENT, code=1, says='.spec.replicas')),
    Flow('lists of two managers', K('apply --server-side --field-manager=one -f -', DEPLOYMENT),
         K('apply --server-side --validate=false --field-manager=two -f -', """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {two: "yes"}}
spec: {template: {spec: {containers: [{name: side, image: "example.com/s:1"}]}}}
"""), Has('deploy web', '{.spec.template.spec.containers[*].name}', 'c side'), K('apply --server-side --field-manager=one -f -', deployment(image='example.com/c:5')),
         Has('deploy web', '{.spec.template.spec.containers[*].image} {.metadata.labels.two}', 'example.com/c:5 example.com/s:1 yes'),
         K('apply --server-side --validate=false --field-manager=two -f -', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n'),
         Has('deploy web', '{.spec.template.spec.containers[*].name}{.metadata.labels.two}', 'c')),
    Flow('managed fields are shown and reset', K('apply --server-side -f -', DEPLOYMENT), K('get deploy web -o yaml --show-managed-fields', says='f:replicas', since=21),
         K("patch deploy web --type=merge -p '{\"metadata\":{\"managedFields\":[{}]}}'", says='patched'), Has('deploy web', MANAGERS, ''),
         K('apply --server-side --field-manager=new -f -', deployment(replicas=5), code=1, says='before-first-apply'),
         K('apply --server-side --field-manager=new --force-conflicts -f -', deployment(replicas=5)), Has('deploy web', '{.spec.replicas}', '5')),
    Flow('saved configurations', K('create --save-config -f -', configmap('c', '{a: "1", b: "2"}')), K('apply -f -', configmap('c', '{a: "1"}'), says='configured', lacks='missing'),
         Has('cm c', '{.data}', '{"a":"1"}'), K('replace --save-config -f -', configmap('c', '{c: "1"}')), K('apply -f -', configmap('c', '{d: "1"}')),
         Has('cm c', '{.data}', '{"d":"1"}')),
    Flow('rollouts of a stateful set', K('create -f -', SET), set_revision(1), set_revision(2), K('rollout history sts/db', says=['1', '2']),
         K('rollout history sts/db --revision=2', says='example.com/c:2'), K('rollout undo sts/db --to-revision=2', says='rolled back'), Has('sts db', IMAGE, 'example.com/c:2'),
         K('rollout restart sts/db', says='restarted'), K('rollout status sts/db --watch=false', says='aiting'), K('rollout pause sts/db', code=1, says='not supported'),
         K('create -f -', DAEMONS), K('rollout restart ds', says='agent restarted'), K('rollout status ds/agent --timeout=1s', code=1)),
    Flow('wait for what goes', K('create -f -', HELD), K('delete cm c --timeout=5s', code=1, says='timed out'), Has('cm c', '{.metadata.finalizers[0]}', 'example.com/held'),
         K('wait cm/c --for=delete --timeout=5s', code=1, says='timed out'), FREE, K('wait cm/c --for=delete --timeout=60s', since=24), Gone('cm c')),
    Flow('foreground deletion is waited for', K('create -f -', DEPLOYMENT), K('delete deploy web --cascade=foreground --timeout=5s', code=1, says='timed out'),
         Has('deploy web', '{.metadata.finalizers}', '["foregroundDeletion"]'), K("patch deploy web --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'"),
         Gone('deploy web'), K('create -f -', DEPLOYMENT)),
    Flow('through subresources', K('create -f -', DEPLOYMENT), K('get deploy web --subresource=scale -o jsonpath={.kind}/{.spec.replicas}', says='Scale/2'),
         K("patch deploy web --subresource=status --type=merge -p '{\"status\":{\"replicas\":2},\"spec\":{\"replicas\":9}}'", says='patched'),
         Has('deploy web', '{.status.replicas}/{.spec.replicas}', '2/2'),
         K('edit deploy web --subresource=status', env={'KUBE_EDITOR': '{dir}/status'}, says='edited'), Has('deploy web', '{.status.replicas}', '4'), Call('PATCH', WEB + '/status', READY),
         K("patch deploy web --subresource=scale --type=merge -p '{\"spec\":{\"replicas\":7}}'"), Has('deploy web', '{.spec.replicas}/{.status.readyReplicas}', '7/2'),
         files={'status': '#!/bin/sh\nsed -i "s/  replicas: 2$/  replicas: 4/" "$1"\n'}, since=30),
    Flow('folders', K('apply -f {dir}/all', says=['configmap/a created', 'configmap/c created'], lacks='configmap/b'), K('apply -R -f {dir}/all', says='configmap/b created'),
         K('get -R -f {dir}/all -o name', says=['configmap/a', 'configmap/b', 'configmap/c']), K('diff -R -f {dir}/all'), K('annotate -R -f {dir}/all x=y'),
         Has('cm b', '{.metadata.annotations.x}', 'y'), K('replace -R -f {dir}/all', says='configmap/b replaced'), K('delete -R -f {dir}/all --now', says='"b" deleted'), Gone('cm a'), files=FOLDER),
    Flow('kustomize, generated names', K('apply -k {dir}/over', says='deployment.apps/web-x created'),
         Has('deploy web-x', '{.spec.replicas} {.spec.template.spec.containers[0].env[0].name}', '7 A'),
         K('get deploy web-x -o jsonpath={.spec.template.spec.containers[0].envFrom[0].configMapRef.name}', says='settings-x-'),
         K('kustomize {dir}/base', says='password: aHVudGVyMg=='), K('diff -k {dir}/over'), K('apply --server-side -k {dir}/over', says='serverside-applied'),
         K('delete -k {dir}/over', says='deleted'), Gone('deploy web-x'), files=BASE, since=26),
    Flow('expose, all of it', K('create -f -', DEPLOYMENT), K('expose -f - --name=none --port=80 --cluster-ip=None', DEPLOYMENT), Has('svc none', '{.spec.clusterIP}', 'None'),
         K('expose deploy web --name=udp --port=53 --protocol=UDP --session-affinity=ClientIP --selector=x=y --labels=l=m'),
         Has('svc udp', '{.spec.ports[0].protocol} {.spec.sessionAffinity} {.spec.selector} {.metadata.labels}', 'UDP ClientIP {"x":"y"} {"l":"m"}'),
         K('expose deploy web --name=balanced --port=80 --type=LoadBalancer --external-ip=192.0.2.1'), Has('svc balanced', '{.spec.externalIPs}', '["192.0.2.1"]'),
         K('expose deploy web --port=80 --dry-run=server', says='dry run'), Gone('svc web'), K('expose deploy web --port=80'), K('expose deploy web --port=80', code=1, says='already exists')),
    Flow('set, all at once', K('create -f -', DEPLOYMENT + '---' + SET), K('set image deploy,sts c=example.com/c:8 --all', says=['deployment.apps/web', 'statefulset.apps/db']),
         Has('sts db', IMAGE, 'example.com/c:8'), K('set env deploy/web A=1'), K('set env deploy/web A=2 --overwrite=false', code=1, says='already has a value'),
         K('create secret generic s --from-literal=key=v --from-literal=other=w'), K('set env deploy/web --from=secret/s --keys=key'),
         Has('deploy web', '{.spec.template.spec.containers[0].env[1].valueFrom.secretKeyRef}', '{"key":"key","name":"s"}'),
         K('set image deploy/web c=example.com/c:9 --dry-run=server', says='dry run'), K('set image deploy/web nothing=x', code=1, says='nothing'), Has('deploy web', IMAGE, 'example.com/c:8')),
    Flow('scale by files and labels', K('create -f -', DEPLOYMENT + '---' + SET), K('scale -f {dir}/web.yaml --replicas=4'), Has('deploy web', '{.spec.replicas}', '4'), K('scale deploy,sts --all --replicas=6', says=['web', 'db']),
         Has('deploy web', '{.spec.replicas}', '6'), K('scale deploy -l app=web --replicas=1'), Has('sts db', '{.spec.replicas}', '6'), Has('deploy web', '{.spec.replicas}', '1'),
         K('scale deploy nothing --replicas=1', code=1, says='not found'), K('scale cm c --replicas=1', code=1), files={'web.yaml': DEPLOYMENT}),
    Flow('pages of all verbs', K('create -f -', SIX), K('get cm --chunk-size=2 -o jsonpath={.items[*].metadata.name}', says='c0 c1 c2 c3 c4 c5'),
         K("get --raw '/api/v1/namespaces/{ns}/configmaps?limit=2'", says=['"remainingItemCount":', '"continue":']), K('describe cm --chunk-size=2', says='c5', since=24),
         K('delete cm --all', says='"c5" deleted'), K('get cm', says='No resources found')),
    Flow('deletions of all kinds', K('create -f -', DEPLOYMENT + '---\n' + POD % ('p', '') + '---\n' + configmap('c', '{}')), K('create service clusterip s --tcp=80'),
         K('delete all --all --dry-run=server', says='dry run'), Has('deploy web', '{.metadata.name}', 'web'), K('delete all --all --wait=false', says=['deployment.apps "web"', 'service "s"']),
         Has('cm c', '{.metadata.name}', 'c'), K('delete cm/c pod/p deploy/web --ignore-not-found'), K('delete cm c --ignore-not-found=false', code=1, says='NotFound'),
         K('delete cm', code=1, says='resource(s) were provided')),
]

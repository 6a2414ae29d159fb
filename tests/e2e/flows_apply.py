"""Flows around apply, diff, prune, edit, replace and patch."""
from flows import Call, Flow, Gone, Has, K


def deployment(name='web', image='example.com/c:1', replicas=2):
    return """
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, labels: {app: %s}}
spec:
  replicas: %d
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      containers:
      - {name: c, image: "%s", ports: [{containerPort: 80}]}
""" % (name, name, replicas, name, name, image)


def configmap(name, data, labels=None):
    return 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%s}\ndata: %s\n---\n' % (name, ', labels: ' + labels if labels else '', data)


DEPLOYMENT = deployment()
PRUNED = configmap('a', '{k: v}', '{set: one}')
MANAGERS = '{range .metadata.managedFields[*]}{.manager}/{.operation} {end}'
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: "example.com/c:%d"}]}
"""
KUSTOMIZATION = {
    'base/kustomization.yaml': 'resources: [web.yaml]\nnamePrefix: pre-\nlabels:\n- pairs: {made: kustomize}\n'
                               'configMapGenerator:\n- name: settings\n  literals: [k=v]\n  options: {disableNameSuffixHash: true}\n',
    'base/web.yaml': DEPLOYMENT,
    'over/kustomization.yaml': 'resources: [../base]\nimages:\n- {name: example.com/c, newTag: "9"}\n',
}
OLD_KUSTOMIZATION = dict(KUSTOMIZATION, **{'over/kustomization.yaml': KUSTOMIZATION['over/kustomization.yaml'].replace('resources', 'bases'), 'base/kustomization.yaml': KUSTOMIZATION['base/kustomization.yaml'].replace(
    'labels:\n- pairs: {made: kustomize}', 'commonLabels: {made: kustomize}').replace(
    '  options: {disableNameSuffixHash: true}\n', 'generatorOptions: {disableNameSuffixHash: true}\n')})
KUSTOMIZED = (
    K('apply -k {dir}/base', says=['deployment.apps/pre-web created', 'configmap/pre-settings created']),
    Has('cm pre-settings', '{.data.k}/{.metadata.labels.made}', 'v/kustomize'),
    K('diff -k {dir}/over', says='example.com/c:9', code=1),
    K('apply -k {dir}/over', says=['deployment.apps/pre-web configured', 'configmap/pre-settings unchanged']),
    K('get -k {dir}/base -o name', says=['deployment.apps/pre-web', 'configmap/pre-settings']),
    K('delete -k {dir}/over', says='deployment.apps "pre-web" deleted'),
)
SETTLED = {'status': {'observedGeneration': 1, 'replicas': 2}}

FLOWS = [
    Flow('diff', K('diff -f -', DEPLOYMENT, says='+  replicas: 2', code=1), K('apply -f -', DEPLOYMENT, says='created'), K('diff -f -', DEPLOYMENT),
         K('diff -f -', deployment(replicas=5), says=['-  replicas: 2', '+  replicas: 5'], code=1), Has('deploy web', '{.spec.replicas}', '2')),
    Flow('diff, server side', K('apply --server-side -f -', DEPLOYMENT), K('diff --server-side -f -', DEPLOYMENT),
         K('diff --server-side -f -', deployment(image='example.com/c:2'), says='example.com/c:2', code=1)),
    Flow('apply, three ways', K('apply -f -', configmap('c', '{a: "1", b: "2"}'), says='configmap/c created'),
         K("patch cm c -p '{\"data\":{\"c\":\"3\"}}'"), K('apply -f -', configmap('c', '{a: "9"}'), says='configmap/c configured'),
         Has('cm c', '{.data}', '{"a":"9","c":"3"}'), K('apply -f -', configmap('c', '{a: "9"}'), says='unchanged'),
         K('apply view-last-applied cm/c -o json', says='"a": "9"', lacks='"b"')),
    Flow('apply, lists by their keys', K('apply -f -', DEPLOYMENT), K('set env deploy/web A=1'), K('apply -f -', deployment(image='example.com/c:2')),
         Has('deploy web', '{.spec.template.spec.containers[0].env[0].name} {.spec.template.spec.containers[0].image}', 'A example.com/c:2')),
    Flow('apply of what was created', K('create -f -', configmap('c', '{a: "1"}')),
         K('apply -f -', configmap('c', '{a: "2"}'), says=['missing the', 'last-applied-configuration', 'configmap/c configured']),
         Has('cm c', '{.data.a}', '2')),
    Flow('set-last-applied', K('create -f -', configmap('c', '{a: "1"}')),
         K('apply set-last-applied --create-annotation -f {dir}/c.yaml', says='configured'),
         K('apply -f -', configmap('c', '{b: "2"}')), Has('cm c', '{.data}', '{"b":"2"}'), files={'c.yaml': configmap('c', '{a: "1"}')}),
    Flow('migration to server side', K('apply -f -', configmap('c', '{a: "1", b: "2"}')), Has('cm c', MANAGERS, 'kubectl-client-side-apply/Update '),
         K('apply --server-side -f -', configmap('c', '{a: "1"}'), says='serverside-applied'),
         Has('cm c', '{.data}', '{"a":"1"}', since=26), Has('cm c', MANAGERS, 'kubectl/Apply kubectl-last-applied/Apply ', since=26, until=28)),
    Flow('server side and back', K('apply --server-side -f -', DEPLOYMENT), K('apply -f -', deployment(replicas=4), says='configured'),
         Has('deploy web', '{.spec.replicas}', '4'),
         # kubectl owns the fields of the last applied configuration: no conflict.
         K('apply --server-side -f -', DEPLOYMENT), Has('deploy web', '{.spec.replicas}', '2')),
    Flow('conflict, force, shared, removal', K('apply --server-side --field-manager=one -f -', DEPLOYMENT),
         K('apply --server-side --field-manager=two -f -', deployment(replicas=5), code=1, says=['conflict with "one"', '.spec.replicas']),
         K('apply --server-side --field-manager=two --force-conflicts -f -', deployment(replicas=5), says='deployment.apps/web serverside-applied'),
         Has('deploy web', '{.spec.replicas}', '5'),
         K('apply --server-side --field-manager=one -f -', deployment(replicas=5)),
         K('apply --server-side --field-manager=one -f -', DEPLOYMENT.replace('  replicas: 2\n', '')), Has('deploy web', '{.spec.replicas}', '5'),
         K('apply --server-side --field-manager=two -f -', DEPLOYMENT.replace('  replicas: 2\n', '')), Has('deploy web', '{.spec.replicas}', '1')),
    Flow('prune by label',
         K('apply -l set=one -f -', PRUNED + configmap('b', '{k: v}', '{set: one}'), says=['configmap/a created', 'configmap/b created']),
         K('create -f -', configmap('c', '{k: v}', '{set: one}')),
         K('apply --prune -l set=one --prune-allowlist=core/v1/ConfigMap -f -', PRUNED, says='configmap/b pruned', since=26),
         K('apply --prune -l set=one --prune-whitelist=core/v1/ConfigMap -f -', PRUNED, says='configmap/b pruned', until=26),
         Gone('cm b'), Has('cm a', '{.data.k}', 'v'), Has('cm c', '{.data.k}', 'v')),
    Flow('prune by applyset', K('apply --prune --applyset=keep -f -', PRUNED + configmap('b', '{k: v}'), env={'KUBECTL_APPLYSET': 'true'}, says='configmap/b'),
         K('apply --prune --applyset=keep -f -', PRUNED, env={'KUBECTL_APPLYSET': 'true'}, says='configmap/b pruned'), Gone('cm b'),
         Has('secret keep', '{.metadata.annotations.applyset\\.kubernetes\\.io/contains-group-kinds}', 'ConfigMap'), since=27),
    Flow('dry run in the server', K('apply --dry-run=server -f -', DEPLOYMENT, says='created (server dry run)'), Gone('deploy web'),
         K('create --dry-run=server -o yaml -f -', DEPLOYMENT, says=['terminationGracePeriodSeconds: 30', 'uid:']), Gone('deploy web'),
         K('apply --server-side --dry-run=server -f -', DEPLOYMENT, says='serverside-applied (server dry run)'), Gone('deploy web'),
         K('apply -f -', DEPLOYMENT), K('apply --dry-run=server -f -', deployment(replicas=7), says='configured (server dry run)'),
         K('scale deploy web --replicas=9 --dry-run=server', since=21), K('annotate deploy web a=b --dry-run=server'),
         K("patch deploy web --dry-run=server -p '{\"spec\":{\"replicas\":8}}'"), K('delete deploy web --dry-run=server', says='(server dry run)'),
         Has('deploy web', '{.spec.replicas}{.metadata.generation}{.metadata.annotations.a}', '21')),
    Flow('dry run in the client', K('create cm c --from-literal=a=1 --dry-run=client -o yaml', says='a: "1"'), Gone('cm c')),
    Flow('edit', K('create -f -', DEPLOYMENT), K('edit deploy web', env={'KUBE_EDITOR': '{dir}/image'}, says='deployment.apps/web edited'),
         Has('deploy web', '{.spec.template.spec.containers[0].image}', 'example.com/c:7'),
         K('edit deploy web', env={'KUBE_EDITOR': 'true'}, says='Edit cancelled, no changes made'),
         K('edit deploy web --save-config', env={'KUBE_EDITOR': '{dir}/replicas'}, says='edited'), Has('deploy web', '{.spec.replicas}', '6'),
         files={'image': '#!/bin/sh\nsed -i s/c:1/c:7/ "$1"\n', 'replicas': '#!/bin/sh\nsed -i "s/replicas: 2/replicas: 6/" "$1"\n'}),
    Flow('edit of data', K('create -f -', configmap('c', '{a: "1"}')),
         K('edit cm c', env={'KUBE_EDITOR': '{dir}/both'}, says='edited'), Has('cm c', '{.data.a}', '2'),
         files={'both': '#!/bin/sh\nsed -i \'s/a: "1"/a: "2"/\' "$1"\n'}),
    Flow('edit of the last applied', K('apply -f -', configmap('c', '{a: "1"}')),
         K('apply edit-last-applied cm/c', env={'KUBE_EDITOR': '{dir}/e'}, says='configmap/c edited'),
         K('apply view-last-applied cm/c', says='b: "1"'), files={'e': '#!/bin/sh\nsed -i "s/a: /b: /" "$1"\n'}),
    Flow('replace', K('replace -f -', DEPLOYMENT, code=1, says='NotFound'), K('create -f -', DEPLOYMENT),
         K('replace -f -', deployment(replicas=4), says='replaced'), Has('deploy web', '{.spec.replicas}', '4'),
         K('create -f -', DEPLOYMENT, code=1, says='deployments.apps "web" already exists')),
    Flow('replace by force', K('create -f -', JOB % 1), K('replace -f -', JOB % 2, code=1, says='field is immutable'),
         K('replace --force -f -', JOB % 2, says=['deleted', 'replaced']),
         Has('job once', '{.spec.template.spec.containers[0].image}', 'example.com/c:2')),
    Flow('apply by force', K('apply -f -', JOB % 1), K('apply -f -', JOB % 2, code=1, says='field is immutable'),
         K('apply --force --cascade=background -f -', JOB % 2), Has('job once', '{.spec.template.spec.containers[0].image}', 'example.com/c:2')),
    Flow('patches', K('create -f -', DEPLOYMENT),
         K("patch deploy web -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"s\"}]}}}}'", says='patched'),
         Has('deploy web', '{.spec.template.spec.containers[*].name}', 'side c'),
         K("patch deploy web --type=merge -p '{\"spec\":{\"paused\":true}}'"), Has('deploy web', '{.spec.paused}', 'true'),
         K("patch deploy web --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/paused\"}]'"), Has('deploy web', '{.spec.paused}', ''),
         K("patch deploy web --type=json -p '[{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":7}]'", code=1),
         K("patch deploy web -p '{\"spec\":{\"replicas\":2}}'", says='patched (no change)')),
    Flow('patch of a subresource', K('create -f -', DEPLOYMENT),
         K("patch deploy web --subresource=scale --type=merge -p '{\"spec\":{\"replicas\":3}}'"), Has('deploy web', '{.spec.replicas}', '3'),
         K("patch deploy web --subresource=status --type=merge -p '{\"status\":{\"replicas\":3}}'"), Has('deploy web', '{.status.replicas}', '3'),
         K('get deploy web --subresource=scale -o yaml', says=['kind: Scale', 'replicas: 3']),
         K('edit deploy web --subresource=status', env={'KUBE_EDITOR': '{dir}/e'}), Has('deploy web', '{.status.replicas}', '1'),
         files={'e': '#!/bin/sh\nsed -i "s/^  replicas: 3/  replicas: 1/" "$1"\n'}, since=30),
    Flow('kustomize', *KUSTOMIZED, files=KUSTOMIZATION, since=23),
    Flow('kustomize, as it was', *KUSTOMIZED, files=OLD_KUSTOMIZATION, until=23),
    Flow('unknown fields', K('apply -f -', DEPLOYMENT.replace('spec:', 'spec:\n  bogus: 1', 1), code=1, says='unknown field "spec.bogus"', since=25),
         K('apply -f -', DEPLOYMENT.replace('spec:', 'spec:\n  bogus: 1', 1), code=1, says='unknown field "bogus"', until=25),
         K('apply --validate=warn -f -', DEPLOYMENT.replace('spec:', 'spec:\n  bogus: 1', 1), says=['Warning: unknown field "spec.bogus"', 'created'], since=25),
         K('apply --validate=false -f -', DEPLOYMENT.replace('spec:', 'spec:\n  bogus: 1', 1))),
    Flow('a list of objects', K('apply -f -', 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n'
                                '- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n', says=['configmap/a created', 'secret/b created']),
         K('get cm/a secret/b -o name', says=['configmap/a', 'secret/b'])),
    Flow('generated names', K('create -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: gen-, labels: {g: x}}\n', says='configmap/gen-'),
         K('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: gen-}\n', code=1, says='generate')),
    Flow('status is not applied', K('apply -f -', DEPLOYMENT + 'status: {replicas: 5}\n', says='created'), Has('deploy web', '{.status.replicas}', ''),
         Call('PATCH', '/apis/apps/v1/namespaces/{ns}/deployments/web/status', SETTLED),
         K('apply -f -', deployment(replicas=3)), Has('deploy web', '{.status.replicas}{.spec.replicas}', '23')),
]

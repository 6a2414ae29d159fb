#include "targets.hpp"

#include "admission_targets.hpp"
#include "audit_targets.hpp"
#include "authentication_targets.hpp"
#include "authorization_targets.hpp"
#include "backend_targets.hpp"
#include "contract_targets.hpp"
#include "encryption_targets.hpp"
#include "engine/codec.hpp"
#include "etcd_targets.hpp"
#include "identity_targets.hpp"
#include "session_targets.hpp"
#include "stream_targets.hpp"
#include "text_targets.hpp"
#include "token_targets.hpp"

namespace backplane::fuzz {
namespace {

const std::string kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n","labels":{"a":"1"},"creationTimestamp":"2026-01-02T03:04:05Z",)"
    R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"x","uid":"u","controller":true}]},"spec":{"containers":[{"name":"c",)"
    R"("image":"i","ports":[{"containerPort":80}],"env":[{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],)"
    R"("resources":{"limits":{"cpu":"100m","memory":"1.5Gi"}},"livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":3}}],)"
    R"("volumes":[{"name":"v","emptyDir":{"sizeLimit":"1e3"}}],"tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":5}],)"
    R"("hostAliases":[{"ip":"1.2.3.4","hostnames":["a","b"]}]},"status":{"startTime":null,"phase":"Running"}})";

constexpr char kPodYaml[] =
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {a: \"1\", b: yes}\nspec:\n  containers:\n  - &c\n    name: c\n    image: "
    ">-\n"
    "      i\n    args: ['-a', \"b\\n\", 0x1f, 1_000, .5, ~]\n  - <<: *c\n    name: d\n---\n# more\n";

// A pod of the name "p" with a container, as protobuf in upstream's envelope.
constexpr char kPodProtobufBytes[] =
    "k8s\0\n\x09\n\x02v1\x12\x03Pod\x12\x15\n\x05\n\x01p\x12\0\x12\x0c\x12\x06\n\x01"
    "c\x12\x01i\x1a\x02"
    "No";
const std::string kPodProtobuf(kPodProtobufBytes, sizeof kPodProtobufBytes - 1);

constexpr char kSchema[] =
    R"({"type":"object","properties":{"spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1,)"
    R"("default":3},"color":{"type":"string","enum":["red","blue"],"pattern":"^[a-z]*$","maxLength":5},"ports":{"type":"array",)"
    R"("x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],"items":{"type":"object","required":["n"],"properties":)"
    R"({"n":{"type":"integer","format":"int32"}}}},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
    R"("ios":{"x-kubernetes-int-or-string":true},"not":{"allOf":[{"minimum":2}],"not":{"enum":[3]}},"map":{"type":"object",)"
    R"("additionalProperties":{"type":"number","multipleOf":0.5}}}}}})"
    "\n"
    R"({"apiVersion":"a/v1","kind":"A","metadata":{"name":"a"},"spec":{"size":4,"color":"red","ports":[{"n":1},{"n":1}],"free":{"x":[1]},)"
    R"("ios":"1","map":{"a":1.5}}})";

// An object of the type that the target expression_values declares.
const std::string kSubject =
    R"({"name":"a","count":3,"ratio":1.5,"port":80,"when":"2026-01-02T03:04:05Z","bytes":"aGk=","tags":["a","b"],"parts":[{"n":"x","v":3}],)"
    R"("labels":{"k":"v"},"free":{"x":[1,null]}})";

std::vector<std::string> patch_seeds() {
  return {
      kPod + "\n" + R"([{"op":"add","path":"/metadata/labels/b","value":"2"},{"op":"test","path":"/spec/containers/0/name","value":"c"},)" +
          R"({"op":"move","from":"/spec/volumes/0","path":"/spec/volumes/-"},{"op":"copy","from":"/spec","path":"/status/x"},)" +
          R"({"op":"remove","path":"/spec/hostAliases"},{"op":"replace","path":"/a~1b~0c","value":null}])",
      kPod + "\n" + R"({"metadata":{"labels":{"a":null,"$retainKeys":["b"]}},"spec":{"containers":[{"name":"c","image":"j"},{"name":"d",)" +
          R"("$patch":"delete"}],"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],"volumes":[{"$patch":"replace"}],)" +
          R"("$deleteFromPrimitiveList/finalizers":["x"]}})",
  };
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"abac_policies",
       abac_policies,
       {"# x\n"
        R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"*","apiGroup":"*","resource":"pods"}})"
        "\n"
        R"({"group":"ops","readonly":true,"namespace":"n"})"}},
      {"admission_answers", admission_answers, admission_answer_seeds()},
      {"admission_configurations", admission_configurations, admission_configuration_seeds()},
      {"admission_patches", admission_patches, admission_patch_seeds()},
      {"audit_policy",
       audit_policy,
       {"apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- level: Request\n  "
        "users: "
        "[a]\n  userGroups: [b]\n  verbs: [get]\n  namespaces: [default, \"\"]\n  resources:\n  - group: \"*\"\n    resources: "
        "[\"pods/*\", "
        "\"*/status\"]\n    resourceNames: [x]\n  omitManagedFields: false\n- level: None\n  nonResourceURLs: [\"/healthz*\"]\n",
        R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata","omitStages":["Panic"]}]})",
        R"({ "a<b" : [ 1, "\u2028\"" ], "c":{"d":null} })"}},
      {"authentication_config", authentication_config, {authentication_config_seed()}},
      {"authorization_configurations",
       authorization_configurations,
       {"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: Node, name: node}\n- type: "
        "Webhook\n  name: a.b\n  webhook:\n    timeout: 3s\n    authorizedTTL: 5m\n    subjectAccessReviewVersion: v1\n"
        "    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: Deny\n    connectionInfo: {type: KubeConfigFile, "
        "kubeConfigFile: /etc/hostname}\n    matchConditions:\n    - expression: request.user == 'a' && 'g' in request.groups\n"}},
      {"cbor_body",
       cbor_body,
       {*cbor_codec().to_stored(nullptr, kPod), "\x9f\xc1\x1a\x51\x4b\x67\xb0\xd6\x41x\xf9\x3e\x01\x7f\x61z\xff\xff"}},
      {"client_certificates", client_certificates, {client_certificate_seed()}},
      {"column_paths",
       column_paths,
       {".spec.list[?(@.type==\"Ready\")]['a\\.b'][0:-1:2,1].*\n"
        R"({"spec":{"list":[{"type":"Ready","a.b":[[{"x":1}]]}]}})",
        "..name[*][-1]..x 'a' 1.5 true\n"
        R"({"name":[[1,{"x":2}]],"a":{"name":[{"x":[3]}]}})"}},
      {"conversion_answers",
       conversion_answers,
       {R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"7","result":{"status":"Success"},)"
        R"("convertedObjects":[{"apiVersion":"e.com/v2","kind":"Foo","metadata":{"name":"a","uid":"u","labels":{"x":"y"}}},)"
        R"({"apiVersion":"e.com/v2","kind":"Foo","metadata":{"name":"b","uid":"u","annotations":null}}]}})",
        R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","response":{"uid":"7","result":{"status":"Failure",)"
        R"("message":"no","reason":"x"},"convertedObjects":null}})"}},
      {"custom_schemas", custom_schemas, {kSchema}},
      {"encryption_configuration", encryption_configuration, encryption_configuration_seeds()},
      {"encryption_envelopes", encryption_envelopes, encryption_envelope_seeds()},
      {"etcd_answers", etcd_answers, {etcd_answer_seed(0), etcd_answer_seed(1), etcd_answer_seed(2), etcd_answer_seed(3)}},
      {"etcd_channel", etcd_channel, {etcd_channel_seed(), etcd_leaving_seed()}},
      {"expression_values",
       expression_values,
       {"self.tags.all(t, t.matches('^[a-z]+$')) && self.parts.exists_one(p, p.n == 'x' && p.v > 2) || self.port == 80\n" + kSubject,
        "self.labels.map(k, self.labels[k]).join(',') + string(self.count) + any.name + string(self.ratio) == b'x'.format([])\n" + kSubject,
        "self.when.getFullYear() > 2000 && size(self.bytes) == 2 && has(self.free.x) ? any.parts[0].v == 3.0 : oldSelf.hasValue()\n" +
            kSubject,
        "[self.tags, any].map(x, dyn(x)).sortBy(y, string(y)) == any.tags || sets.contains(self.tags, ['a']) && any in {'a': any}\n" +
            kSubject}},
      {"field_sets",
       field_sets,
       {R"({"f:metadata":{"f:labels":{".":{},"f:a":{}},"f:finalizers":{"v:\"x\"":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},)"
        R"("f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{},"i:0":{},"v:1.5":{}}}}}})"
        "\n"
        R"({"f:spec":{".":{},"f:containers":{"k:{\"name\":\"c\"}":{}}},"f:status":{"v:[1,{\"a\":null}]":{},"v:true":{}}})"}},
      {"expressions",
       expressions,
       {"self.tags.all(t, t.matches('^[a-z]+$') && size(t) < 63) || has(self.any.x) ? self.count >= 1 : oldSelf.optMap(o, "
        "o.count).orValue(2) == 3",
        "self.labels.transformMap(k, v, k != 'a', v + r'\\d').exists(k, v, k in [v, \"b\"]) && {'a': [1, 2u, -.5e3,],}['a'][0] == 0x1F",
        "'%s %.3f %d'.format([self.name, 1.5, self.tags.sortBy(t, t)[?0].hasValue()]) + self.?name.value() == b'\\x00\\u00e9' // and a "
        "comment",
        "google.protobuf.Int32Value{value: 1} == null && !quantity('1Gi').isLessThan(quantity(\"\"\"1\"\"\")) && sets.contains([[]], "
        "[self.tags])"}},
      {"http1_backend",
       http1_backend,
       {std::string("\0\1", 2) + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n",
        std::string("\0\5", 2) +
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n",
        "\1\1HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        "\2\1HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n\x80\3"}},
      {"http1_session",
       http1_session,
       {"\x01GET /hello HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /stream "
        "HTTP/1.1\r\nHost: "
        "a\r\nAccept-Encoding: gzip\r\n\r\n",
        "\x05POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: "
        "1\r\n\r\nGET /throw HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x09GET /unfinished HTTP/1.0\r\nConnection: keep-alive\r\n\r\nHEAD /large HTTP/1.0\r\n\r\n"}},
      {"http2_backend", http2_backend, {http2_backend_seed()}},
      {"http2_session", http2_session, {http2_seed()}},
      {"id_tokens",
       id_tokens,
       {R"({"iss":"https://issuer.example","aud":["app"],"exp":2000,"nbf":1.5,"sub":"j","n":1,"groups":["a"],"a.b":"u","list":["x","y"],)"
        R"("deep":{"x":"z"},"hd":"example.com","jti":"t","_claim_names":{"q":"s"},"_claim_sources":{"s":{"endpoint":"https://e"}}})"}},
      {"impersonation_headers",
       impersonation_headers,
       {"Impersonate-User: jane\nImpersonate-Group: a\nImpersonate-Group: b\nImpersonate-Uid: 7\nImpersonate-Extra-Example.org%2fcolor: x\n"
        "Impersonate-Extra-a: b\nAccept: c\n"}},
      {"json_body", json_body, {kPod, R"({"a":[1,2.5e-3,"\u00e9\ud83d\ude00",{}],"b":{"c":null,"c":true}})"}},
      {"json_paths",
       json_paths,
       {".spec.list[?(@.type==\"Ready\")]['a\\.b'][0:-1:2].*\n"
        R"({"spec":{"list":[{"type":"Ready","a.b":[[{"x":1}]]}]}})",
        "{..name[*][-1]..x}\n"
        R"({"name":[[1,{"x":2}]],"a":{"name":[{"x":[3]}]}})"}},
      {"json_web_tokens", json_web_tokens, {json_web_token_seed()}},
      {"kubeconfigs",
       kubeconfigs,
       {"apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- {name: c, context: {cluster: c, user: u}}\nclusters:\n- name: c\n"
        "  cluster: {server: 'https://h:1/p/', certificate-authority-data: Q0E=, tls-server-name: x}\nusers:\n- name: u\n  user: {token: "
        "t, "
        "as: j, as-groups: [g], client-certificate-data: Q0E=, client-key-data: S0VZ}\n"}},
      {"kubelet_stream", kubelet_stream, {kubelet_seed()}},
      {"linked_page",
       linked_page,
       {"\x09<!--x--><a href=\"/a/../b?c#d\"><img src=http://10.0.0.1:80/i><script>'<a href=/no>'</script><form action='/f'>",
        "\x40\x1f\x8b\x08"}},
      {"patches", patches, patch_seeds()},
      {"pem_keys", pem_keys, {pem_key_seed()}},
      {"protobuf_body", protobuf_body, {kPodProtobuf}},
      {"raw_values",
       raw_values,
       {R"({"type":"A","object":{ "b":1.0, "a":[1e2,{"x":"<\u0041"}],"a":null,"n":123456789012345678901234567890 }})"
        "\n"
        R"([{"op":"add","path":"/object/a/1/w","value":{"y":-0, "b":"\u0041"}},{"op":"test","path":"/object/b","value":1.0},)"
        R"({"op":"copy","from":"/object/b","path":"/type"},{"op":"replace","path":"","value":{"object":[ 1.50 ]}}])",
        R"({"object":{ "a":{"b":[1,2.0]} }})"
        "\n"
        R"({"object":{"a":{"c":1e1,"b":null},"d":[{"e":null}]},"type":null})"}},
      {"selectors", selectors, {"a=1,b!=2,c in (x,y),!d,e notin (z),f>5,g<3,h", "metadata.name=a,spec.nodeName!=b\\,c"}},
      {"targets_and_queries",
       targets_and_queries,
       {"/apis/apps/v1/namespaces/n/deployments/d/scale?dryRun=All&fieldManager=a%20b+c&watch=1"}},
      {"websocket_frames", websocket_frames, {"\x03\x81\x85\x01\x02\x03\x04ifoof\x89\x80\x01\x02\x03\x04\x88\x82\x01\x02\x03\x04\x02\xea"}},
      {"websocket_messages",
       websocket_messages,
       {"\x03\x82\x85\x01\x02\x03\x04ifoof\x89\x80\x01\x02\x03\x04\x80\x81\x01\x02\x03\x04z\x88\x82\x01\x02\x03\x04\x02\xea"}},
      {"yaml_body", yaml_body, {kPodYaml}},
  };
  return all;
}

}  // namespace backplane::fuzz

// backplane-bench-codecs: the megabytes per second that one core decodes, encodes and converts from the stored JSON, for each encoding.
#include <chrono>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backplane/types/schema.hpp"
#include "engine/cbor.hpp"
#include "engine/codec.hpp"

namespace {

using namespace backplane;
using Clock = std::chrono::steady_clock;

// A typical pod of about 2 KB.
std::string pod_json() {
  std::string labels, env;
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    labels += (i == 0 ? "" : ",") + ("\"example.com/label-" + n + "\":\"value-" + n + "\"");
    env += (i == 0 ? "" : ",") + ("{\"name\":\"VARIABLE_" + n + "\",\"value\":\"something of some length " + n + "\"}");
  }
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-5f7d9c6b4-x2x9z","namespace":"default","uid":)"
         R"("1fd1cf62-0f3b-4d5e-8f6f-5a2f1d9f1c11","resourceVersion":"123456","creationTimestamp":"2026-01-02T03:04:05Z","labels":{)" +
         labels +
         R"(},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5f7d9c6b4","uid":"2fd1cf62-0f3b-4d5e-8f6f-5a2f1d9f1c22",)"
         R"("controller":true,"blockOwnerDeletion":true}]},"spec":{"containers":[{"name":"web","image":"registry.example.com/web:1.2.3","ports":)"
         R"([{"containerPort":8080,"protocol":"TCP"}],"env":[)" +
         env +
         R"(],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"livenessProbe":{"httpGet":)"
         R"({"path":"/healthz","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10},"terminationMessagePath":)"
         R"("/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",)"
         R"("terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"},)"
         R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":)"
         R"("2026-01-02T03:04:15Z"}],"podIP":"10.1.2.3","startTime":"2026-01-02T03:04:05Z"}})";
}

// The megabytes per second of `call`, which processes `bytes` each time.
double speed(std::size_t bytes, double seconds, const std::function<bool()>& call) {
  const auto begin = Clock::now();
  std::size_t calls = 0;
  std::chrono::duration<double> spent{};
  do {
    for (int i = 0; i < 64; ++i, ++calls) {
      if (!call()) throw std::runtime_error("an object could not be encoded or decoded");
    }
    spent = Clock::now() - begin;
  } while (spent.count() < seconds);
  return static_cast<double>(bytes * calls) / spent.count() / 1e6;
}

struct Encoding {
  const char* name;
  std::string bytes;
  // read decodes to a canonical tree; write encodes a tree; transcode encodes stored JSON without making a tree.
  std::function<Result<Value>(json::storage_ptr)> read;
  std::function<bool(const Value& tree, const std::string& json)> write;
  std::function<bool(const std::string& json)> transcode;
};

std::vector<Encoding> encodings(const Schema& schema, const std::string& json) {
  const Value tree = *parse_json(json, {}, nullptr);
  const auto stores = [schema = &schema](const Codec& codec) {
    return [schema, codec = &codec](const std::string& text) { return codec->to_stored(schema, text).ok(); };
  };
  const std::string yaml = to_yaml(tree), protobuf = *protobuf_codec().to_stored(&schema, json),
                    cbor = *cbor_codec().to_stored(&schema, json);
  std::vector<Encoding> out;
  out.push_back({"json", json, [&json](json::storage_ptr to) { return parse_json(json, to, nullptr); },
                 [](const Value& value, const std::string&) { return !to_json(value).empty(); }, nullptr});
  out.push_back({"yaml", yaml, [yaml](json::storage_ptr to) { return parse_yaml(yaml, to, nullptr); },
                 [](const Value& value, const std::string&) { return !to_yaml(value).empty(); }, nullptr});
  out.push_back({"protobuf", protobuf,
                 [protobuf, &schema](json::storage_ptr to) { return schema.decode_protobuf(open_protobuf_envelope(protobuf)->raw, to); },
                 nullptr, stores(protobuf_codec())});
  out.push_back({"cbor", cbor, [cbor](json::storage_ptr to) { return parse_cbor(cbor, to); }, nullptr, stores(cbor_codec())});
  return out;
}

void measure(const Encoding& encoding, const Schema& schema, const std::string& json, double seconds) {
  const auto decode = [&](bool whole) {
    return speed(encoding.bytes.size(), seconds, [&] {
      json::monotonic_resource arena;
      auto tree = encoding.read(&arena);
      return tree.ok() && (!whole || schema.normalize(*tree, nullptr).ok());
    });
  };
  std::printf("{\"encoding\":\"%s\",\"bytes\":%zu,\"parse_mb_s\":%.0f,\"decode_mb_s\":%.0f", encoding.name, encoding.bytes.size(),
              decode(false), decode(true));
  if (encoding.write != nullptr) {
    const Value tree = *parse_json(json, {}, nullptr);
    std::printf(",\"encode_mb_s\":%.0f", speed(encoding.bytes.size(), seconds, [&] { return encoding.write(tree, json); }));
  }
  if (encoding.transcode != nullptr) {
    std::printf(",\"transcode_mb_s\":%.0f", speed(json.size(), seconds, [&] { return encoding.transcode(json); }));
  }
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double seconds = argc > 1 ? std::stod(argv[1]) : 1;
    const Schema& schema = *core_schemas()->find(GroupVersionKind{"", "v1", "Pod"});
    Value tree = *parse_json(pod_json(), {}, nullptr);
    if (!schema.normalize(tree, nullptr).ok()) return 1;
    const std::string json = to_json(tree);
    for (const Encoding& encoding : encodings(schema, json)) measure(encoding, schema, json, seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane-bench-codecs: %s\n", error.what());
    return 1;
  }
  return 0;
}

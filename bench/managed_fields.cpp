// backplane-bench-managed-fields: the cost of metadata.managedFields in a write of a pod, from the decoded object to its bytes.
//
//   backplane-bench-managed-fields create|change|same|status|apply with|without [COUNT]
//
// `without` does the same without recording managedFields, except for `apply`, which always records them.
//
// Numbers of instructions are repeatable, unlike times.  Run this with the counts 100 and 300 and take the difference, which does not
// include the start of the process:
//
//   valgrind --tool=callgrind --callgrind-out-file=/dev/null backplane-bench-managed-fields create with 100
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "backplane/core/object.hpp"
#include "backplane/types/schema.hpp"
#include "base/io_loop.hpp"
#include "registry/fields/cut_managers.hpp"
#include "registry/fields/field_manager.hpp"
#include "registry/fields/guarded_admission.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/fields/stored_versions.hpp"

namespace {

using namespace backplane;

constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default",)"
    R"("labels":{"app":"bench","tier":"web","pod-template-hash":"5d4f8c7b9"},"annotations":{"checksum/config":"0123456789abcdef0123456789abcdef"}},)"
    R"("spec":{"automountServiceAccountToken":false,"containers":[{"name":"web","image":"registry.example.com/team/web:v1.2",)"
    R"("ports":[{"containerPort":8080,"name":"http"}],"env":[{"name":"REGION","value":"north"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],)"
    R"("resources":{"requests":{"cpu":"250m","memory":"128Mi"},"limits":{"memory":"512Mi"}},"livenessProbe":{"httpGet":{"path":"/healthz","port":8080}},)"
    R"("volumeMounts":[{"name":"cfg","mountPath":"/etc/cfg"}]}],"volumes":[{"name":"cfg","configMap":{"name":"web"}}],"nodeSelector":{"zone":"a"},)"
    R"("tolerations":[{"key":"dedicated","operator":"Exists"}]}})";

class NoAdmission final : public WriteAdmission {
 public:
  Task<Status> admit(AdmissionAttributes&) override { co_return Status(); }
  Task<Status> validate(const AdmissionAttributes&) override { co_return Status(); }
};

class ReplacedObjectInfo final : public UpdatedObjectInfo {
 public:
  explicit ReplacedObjectInfo(Object object) : object_(std::move(object)) {}
  Task<Result<Object>> updated_object(RequestContext&, const Object*) override { co_return std::move(object_); }

 private:
  Object object_;
};

class Applied final : public registry::AppliedObject {
 public:
  explicit Applied(Object object) : AppliedObject("applier", false), object_(std::move(object)) {}
  Result<const Object*> configuration(RequestContext&) override { return &object_; }
  Status accept(RequestContext&, Object&, const Object*) override { return {}; }

 private:
  Object object_;
};

class Bench {
 public:
  Bench(std::string operation, bool with)
      : operation_(std::move(operation)),
        schema_(core_schemas()->find(kKind)),
        manager_(kKind, schema_, std::make_shared<registry::StoredVersions>(kKind, schema_), written(operation_, with)) {}

  // Makes the existing object that the writes change.
  Task<void> prepare() {
    auto context = request("create");
    Object object = read(kPod, context->arena());
    const WriteOptions options;
    co_await manager_.track_new(*context, options, object);
    live_ = make_object(object);
    asked_ = change(std::string(live_->json().view()));
  }

  Task<std::size_t> run(int count) {
    std::size_t bytes = 0;
    for (int i = 0; i < count; ++i) {
      auto context = request(operation_ == "create" ? "create" : operation_ == "apply" ? "patch" : "update");
      if (operation_ == "status") context->info.subresource = "status";
      auto writing = write(*context);
      auto written = co_await std::move(writing);
      if (!written.ok()) throw std::runtime_error(written.status().message());
      bytes = to_json(*written).size();
    }
    co_return bytes;
  }

 private:
  inline static const GroupVersionKind kKind{"", "v1", "Pod"};

  static WrittenFields written(const std::string& operation, bool with) {
    WrittenFields out;
    out.recorded = with;
    if (operation == "status")
      out.resets = {"spec"};
    else
      out.resets = {"status"};
    if (operation == "apply") out.recorded = true;
    return out;
  }

  static std::unique_ptr<RequestContext> request(std::string verb) {
    auto out = std::make_unique<RequestContext>();
    out->info.is_resource_request = true;
    out->info.verb = std::move(verb);
    out->user_agent = "bench/1.0";
    return out;
  }

  Object read(std::string_view text, const json::storage_ptr& storage) const {
    auto cut = registry::parse_sent(text, storage);
    auto read = cut ? Result<Value>(std::move(*cut)) : parse_json(text, storage, nullptr);
    Value tree = std::move(*read);
    if (!schema_->normalize(tree, nullptr).ok()) throw std::runtime_error("not a pod");
    schema_->apply_defaults(tree);
    return std::move(tree.get_object());
  }

  // The JSON that a request sends, made from that of the existing object.
  std::string change(const std::string& live) const {
    Value tree = *parse_json(live, {}, nullptr);
    Object& object = tree.get_object();
    if (operation_ == "change") object["metadata"].get_object()["labels"].get_object()["app"] = "other";
    if (operation_ == "status")
      object["status"] =
          *parse_json(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"podIP":"10.0.0.1"})", {}, nullptr);
    return operation_ == "apply" ? std::string(kPod) : to_json(tree);
  }

  Task<Result<Object>> write(RequestContext& context) {
    const WriteOptions options;
    if (operation_ == "create") {
      Object object = read(kPod, context.arena());
      co_await manager_.track_new(context, options, object);
      auto admitting = admitted(context, std::move(object));
      co_return co_await std::move(admitting);
    }
    const Object live = registry::decode_for_write(*live_, schema_, context.arena());
    auto object = co_await asked(context, options, live);
    if (!object.ok()) co_return object;
    auto admitting = admitted(context, std::move(*object));
    co_return co_await std::move(admitting);
  }

  Task<Result<Object>> asked(RequestContext& context, const WriteOptions& options, const Object& live) {
    Object object = read(asked_, context.arena());
    if (operation_ == "apply") {
      Applied applied(std::move(object));
      co_return co_await manager_.wanted(applied, nullptr, context, options, &live);
    }
    ReplacedObjectInfo replacement(std::move(object));
    co_return co_await manager_.wanted(replacement, nullptr, context, options, &live);
  }

  Task<Result<Object>> admitted(RequestContext& context, Object object) {
    AdmissionAttributes attributes;
    attributes.object = &object;
    Status status = co_await registry::guarded_admit(admission_, attributes, context, false);
    if (!status.ok()) co_return status;
    co_return object;
  }

  const std::string operation_;
  const Schema* const schema_;
  const registry::FieldManager manager_;
  NoAdmission admission_;
  ObjectRef live_;
  std::string asked_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("usage: create|change|same|status|apply with|without [COUNT]");
    const int count = argc > 3 ? std::stoi(argv[3]) : 10'000;
    IoLoop loop("bench");
    loop.start();
    Bench bench(argv[1], std::string_view(argv[2]) == "with");
    run_on(loop, bench.prepare());
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t bytes = run_on(loop, bench.run(count));
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
    loop.stop();
    std::printf("{\"operation\":\"%s\",\"managers\":\"%s\",\"bytes\":%zu,\"us\":%.1f}\n", argv[1], argv[2], bytes, spent.count() / count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane-bench-managed-fields: %s\n", error.what());
    return 1;
  }
  return 0;
}

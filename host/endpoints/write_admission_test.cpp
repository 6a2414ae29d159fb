// Admission of writes to storages that do not run it themselves.
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using WriteAdmissionTest = Api;

class Binding final : public RestStorage, public NamedCreater {
 public:
  explicit Binding(const Schema* schema) : schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string name, Object& object, WriteOptions) override {
    bound = name + "/" + std::string(meta_namespace(object));
    Object status;
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["metadata"] = Object();
    status["status"] = "Success";
    co_return make_object(status);
  }
  std::string bound;

 private:
  const Schema* schema_;
};

TEST_F(WriteAdmissionTest, NamedCreatersRunAdmissionAndTheirStatusGetsItsCode) {
  use_config_maps();
  auto binding = std::make_shared<Binding>(store_->schema());
  CountingAdmission admission;
  scope_.storage = binding;
  scope_.subresource = "binding";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  const Response got = send("POST", maps("/a/binding"), R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(got.body(), "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}\n");
  EXPECT_EQ(binding->bound, "a/n");
  EXPECT_EQ(admission.seen, (std::vector<std::string>{"admit a binding", "validate a"}));
  EXPECT_EQ(discovery_verbs(*binding, true), std::vector<std::string>{"create"});
  EXPECT_EQ(send("GET", maps("/a/binding")).code(), 405);
}

class CheckedBinding final : public RestStorage, public NamedCreater, public ValidatedCreater {
 public:
  explicit CheckedBinding(const Schema* schema, const std::vector<std::string>& seen) : schema_(schema), seen_(seen) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string, Object&, WriteOptions) override {
    co_return internal_error("not called");
  }
  Task<Result<ObjectRef>> create_validated(RequestContext&, std::string, Object& object, WriteOptions,
                                           CreateValidation& validation) override {
    before_validation = seen_;
    Status valid = co_await validation.validate(object);
    if (!valid.ok()) co_return valid;
    co_return make_object(object);
  }
  std::vector<std::string> before_validation;

 private:
  const Schema* schema_;
  const std::vector<std::string>& seen_;
};

TEST_F(WriteAdmissionTest, AStorageCanCheckTheObjectBeforeTheValidatingStep) {
  use_config_maps();
  CountingAdmission admission;
  auto binding = std::make_shared<CheckedBinding>(store_->schema(), admission.seen);
  scope_.storage = binding;
  scope_.subresource = "binding";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("POST", maps("/a/binding"), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_EQ(binding->before_validation, (std::vector<std::string>{"admit a binding"}));
  EXPECT_EQ(admission.seen, (std::vector<std::string>{"admit a binding", "validate a"}));
}

class Review final : public RestStorage, public Creater {
 public:
  explicit Review(const Schema* schema) : schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  Task<Result<ObjectRef>> create(RequestContext&, Object& object, WriteOptions) override {
    ++answered;
    co_return make_object(object);
  }
  int answered = 0;

 private:
  const Schema* schema_;
};

TEST_F(WriteAdmissionTest, ReviewsPassAdmission) {
  use_config_maps();
  auto review = std::make_shared<Review>(store_->schema());
  CountingAdmission admission;
  scope_.storage = review;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_EQ(admission.seen, (std::vector<std::string>{"admit a ", "validate a"}));
  admission.refusal = forbidden("", "configmaps", "a", "no");
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 403);
  EXPECT_EQ(review->answered, 1);
}

TEST_F(WriteAdmissionTest, EveryWriteToAStorageOfAPluginPassesAdmission) {
  use_config_maps();
  store_ = std::make_shared<FakeStore>(scope_.kind, "configmaps", store_->schema());
  CountingAdmission admission;
  scope_.storage = store_;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  const std::vector<std::string> asked = {"admit a ", "validate a"};
  const auto seen = [&] { return std::exchange(admission.seen, {}); };
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_EQ(seen(), asked);
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"x":"1"}})").code(), 200);
  EXPECT_EQ(seen(), asked);
  EXPECT_EQ(send("PATCH", maps("/a"), R"({"data":{"x":"2"}})", {{"Content-Type", "application/merge-patch+json"}}).code(), 200);
  EXPECT_EQ(seen(), asked);
  const Response applied = send("PATCH", maps("/a?fieldManager=tester&force=true"),
                                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"3"}})",
                                {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(applied.code(), 200);
  EXPECT_NE(applied.body().find(R"("operation":"Apply")"), std::string::npos) << applied.body();
  EXPECT_EQ(seen(), asked);
  admission.refusal = forbidden("", "configmaps", "a", "no");
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"}})").code(), 403);
  EXPECT_EQ(send("DELETE", maps("/a")).code(), 403);
  EXPECT_EQ(send("DELETE", maps()).code(), 403);
  EXPECT_EQ(store_->objects.count("a"), 1u);
  admission.refusal = Status();
  seen();
  EXPECT_EQ(send("DELETE", maps("/a")).code(), 200);
  EXPECT_EQ(seen(), asked);
}

}  // namespace
}  // namespace backplane::testing

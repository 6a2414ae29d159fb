// Objects of a wrapped storage, and of a version that is not stored, can be added to a transaction.
#include "backplane/kit/labelled_storage.hpp"
#include "registry/served_conversion.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class Companion final : public BegunWrite {
 public:
  explicit Companion(std::shared_ptr<StandardStorage> store) : store_(std::move(store)) {}
  Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override {
    RequestContext own;
    own.info.ns = context.info.ns;
    auto reading = store_->get(own, "mate", GetOptions());
    const auto found = co_await std::move(reading);
    Object object = json::parse(R"({"kind":"Mate","apiVersion":"example.com/v1","metadata":{"name":"mate"}})").as_object();
    Status joined = !found.ok() ? transaction.create(*store_, own.info.ns, "mate", std::move(object))
                    : removes_  ? transaction.remove(*store_, *found)
                                : transaction.replace(*store_, *found, std::move(object));
    if (!joined.ok()) co_return joined;
    co_return true;
  }
  void remove() { removes_ = true; }

 private:
  const std::shared_ptr<StandardStorage> store_;
  bool removes_ = false;
};

class JoinedStoragesTest : public StoreTest {
 protected:
  void make_mates(bool start = true) {
    scheme_ = std::make_shared<Scheme>();
    const auto noting = [](std::string version) {
      return [version](Object& object) {
        ensure_object(object, "data")["renamed"] = version;
        return Status();
      };
    };
    const GroupVersionKind v1{"example.com", "v1", "Mate"}, v2{"example.com", "v2", "Mate"};
    ASSERT_TRUE(scheme_->add_conversion(v1, v2, noting("v2")).ok());
    ASSERT_TRUE(scheme_->add_conversion(v2, v1, noting("v1")).ok());
    environment.use_scheme(scheme_);
    ResourceConfig things;
    things.kind = {"example.com", "v1", "Thing"};
    things.resource = "things";
    things.schema = &shape_;
    things.strategy = std::make_shared<TestStrategy>();
    store = std::move(*make_store(environment, std::move(things)));
    ResourceConfig mates;
    mates.kind = v1;
    mates.resource = "mates";
    mates.schema = &shape_;
    mates.strategy = std::make_shared<TestStrategy>();
    ResourceConfig view = mates;
    auto stored = make_store(environment, std::move(mates));
    ASSERT_TRUE(stored.ok());
    stored_ = *stored;
    view.kind = v2;
    view.stored_kind = v1;
    auto made = make_store(environment, std::move(view));
    ASSERT_TRUE(made.ok()) << made.status().message();
    view_ = *made;
    if (start) environment.start(objects, hub, admission);
  }
  void expect_joins(const std::shared_ptr<StandardStorage>& mates) {
    context = request("update");
    Companion write(mates);
    for (int i = 0; i < 3; ++i) {
      if (i == 2) write.remove();
      const auto joined = run(store->transact(*context, write));
      ASSERT_TRUE(joined.ok()) << joined.status().message();
      EXPECT_TRUE(*joined);
      EXPECT_EQ(storage.data.count("/registry/mates/default/mate"), i == 2 ? 0U : 1U);
    }
  }

  OrderingSchema shape_;
  std::shared_ptr<Scheme> scheme_;
  std::shared_ptr<StandardStorage> stored_, view_;
};

// --runtime-config has disabled all versions of the resource.
TEST_F(JoinedStoragesTest, CachesOfResourcesThatNoVersionServesAreLoadedWhenTheyAreUsed) {
  make_mates(/*start=*/false);
  StoreSettings settings;
  settings.serves = [](const GroupVersionResource& resource) { return resource.resource == "mates" && resource.version == "v2"; };
  environment.start(objects, hub, admission, {}, std::move(settings));
  EXPECT_EQ(hub.loaded_eagerly, (std::set<std::string>{"mates.example.com"})) << "mates are served in another version, things in none";
  EXPECT_TRUE(create(thing(R"("name":"a")")).ok()) << "the store works all the same";
}

TEST_F(JoinedStoragesTest, OneWithLabelsOfItsOwn) {
  make_mates();
  expect_joins(std::make_shared<kit::LabelledStorage>(stored_, kit::LabelledStorage::Words{{"metadata.name"}, "no ", ""}));
}

TEST_F(JoinedStoragesTest, AnotherVersion) {
  make_mates();
  expect_joins(view_);
  expect_joins(std::make_shared<kit::LabelledStorage>(view_, kit::LabelledStorage::Words{{"metadata.name"}, "no ", ""}));
}

TEST_F(JoinedStoragesTest, AnObjectIsConvertedBetweenTheVersionsThatAreServed) {
  make_mates();
  const auto convert = [&](std::string version, const std::string& from, const std::shared_ptr<RestStorage>& storage) {
    Object object = json::parse(R"({"kind":"Mate","apiVersion":"example.com/)" + from + R"(","metadata":{"name":"a"}})").as_object();
    return run(convert_served(storage, nullptr, {"example.com", std::move(version), "Mate"}, std::move(object)));
  };
  for (const auto& [from, to] : {std::pair("v1", "v2"), std::pair("v2", "v1"), std::pair("v1", "v1"), std::pair("v2", "v2")}) {
    const auto converted = convert(to, from, to == std::string("v2") ? view_ : stored_);
    ASSERT_TRUE(converted.ok()) << converted.status().message();
    EXPECT_EQ(get_string(*converted, "apiVersion"), std::string("example.com/") + to);
    EXPECT_EQ(get_string_path(*converted, "data.renamed"), from != std::string(to) ? to : "");
  }
  EXPECT_EQ(convert("v3", "v1", nullptr).status().reason(), Reason::kNotFound);
  EXPECT_EQ(convert("v2", "v0", view_).status().reason(), Reason::kNotFound);
}

}  // namespace
}  // namespace backplane::registry_test

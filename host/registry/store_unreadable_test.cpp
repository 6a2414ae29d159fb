// Writes of an object whose stored bytes cannot be read.
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class StoreUnreadableTest : public StoreTest {};

TEST_F(StoreUnreadableTest, AnObjectThatCannotBeReadIsNeitherChangedNorReplacedNorRemoved) {
  make(std::make_shared<TestStrategy>(KindFacts{.create_on_update = true}));
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  KeyValue& kept = storage.data.at(key("a"));
  kept.value = SharedBytes();
  kept.unreadable = std::make_shared<const Status>(500, Reason::kNone, "unable to transform key \"a\": no key fits");
  Replacement info(thing(R"("name":"a")"));
  EXPECT_EQ(update("a", info).status().message(), kept.unreadable->message());
  EXPECT_EQ(remove("a").status().message(), kept.unreadable->message());
  EXPECT_EQ(create(thing(R"("name":"a")")).status().reason(), Reason::kAlreadyExists);
  EXPECT_EQ(storage.data.size(), 1u);
  storage.data.erase(key("a"));
  EXPECT_TRUE(create(thing(R"("name":"a")")).ok()) << "it has gone, and all is well";
}

TEST_F(StoreUnreadableTest, IgnoringReadErrorsRemovesOnlyUnreadableObjects) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a","finalizers":["e.com/held"])")).ok());
  DeleteOptions unread;
  unread.ignore_read_error = true;
  Status refused = remove("a", unread).status();
  EXPECT_EQ(refused.code(), 422);
  EXPECT_NE(refused.message().find("ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is exclusively used to delete "
                                   "corrupt object(s), try again by removing this option"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(remove("none", unread).status().code(), 422);
  KeyValue& kept = storage.data.at(key("a"));
  kept.value = SharedBytes();
  kept.unreadable = std::make_shared<const Status>(internal_error("it is no object"));
  auto removed = remove("a", unread);
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_TRUE(removed->deleted);
  EXPECT_EQ(removed->object, nullptr);
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(StoreUnreadableTest, ARemovalThatIgnoresReadErrorsAsksNoAdmission) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  KeyValue& kept = storage.data.at(key("a"));
  kept.value = SharedBytes();
  kept.unreadable = std::make_shared<const Status>(internal_error("it is no object"));
  admission.mutate = [](AdmissionAttributes&) { ADD_FAILURE() << "admission needs the object"; };
  DeleteOptions unread;
  unread.ignore_read_error = true;
  EXPECT_TRUE(remove("a", unread).ok());
}

TEST_F(StoreUnreadableTest, ARemovalThatIgnoresReadErrorsSucceedsIfAnotherClientWasFaster) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  KeyValue& kept = storage.data.at(key("a"));
  kept.value = SharedBytes();
  kept.unreadable = std::make_shared<const Status>(internal_error("it is no object"));
  storage.before_next_txn = [&](const TxnRequest&) { storage.data.erase(key("a")); };
  DeleteOptions unread;
  unread.ignore_read_error = true;
  const auto removed = remove("a", unread);
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_FALSE(removed->deleted);
  EXPECT_EQ(removed->object, nullptr);
}

TEST_F(StoreUnreadableTest, AnObjectThatBecomesUnreadableUnderAnUpdateEndsIt) {
  make(std::make_shared<TestStrategy>(KindFacts{.create_on_update = true}));
  ASSERT_TRUE(create(thing(R"("name":"a")")).ok());
  cache().catch_up();
  storage.before_next_txn = [&](const TxnRequest&) {
    KeyValue& kept = storage.data.at(key("a"));
    storage.put(key("a"), "");
    kept.unreadable = std::make_shared<const Status>(500, Reason::kNone, "unable to transform key \"a\": no key fits");
  };
  Replacement info(thing(R"("name":"a")", R"(,"spec":{"n":2})"));
  EXPECT_EQ(update("a", info).status().message(), "unable to transform key \"a\": no key fits");
}

}  // namespace
}  // namespace backplane::registry_test

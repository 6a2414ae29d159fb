#include "app/computed_objects.hpp"

#include <gtest/gtest.h>

#include "base/io_loop.hpp"

namespace backplane {
namespace {

Object thing(const std::string& name, int value) {
  return {{"kind", "Thing"}, {"apiVersion", "example.com/v1"}, {"metadata", Object{{"name", name}}}, {"value", value}};
}

class Computed : public ::testing::Test {
 protected:
  Computed() { loop_.start(); }
  ~Computed() override { loop_.stop(); }
  std::unique_ptr<WatchStream> watch(const std::string& revision, std::optional<bool> initial = {}) {
    ListOptions options;
    options.resource_version = revision;
    options.send_initial_events = initial;
    options.allow_watch_bookmarks = true;
    auto stream = objects_->watch(options);
    EXPECT_TRUE(stream.ok());
    return std::move(*stream);
  }
  // The next events as text: "ADDED a, MODIFIED b".
  std::string next(WatchStream& stream) {
    auto events = run_on(loop_, stream.next());
    std::string out;
    for (const auto& event : *events) {
      constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
      out +=
          (out.empty() ? "" : ", ") + std::string(kNames[static_cast<std::size_t>(event.type)]) + " " + std::string(event.object->name());
    }
    return out;
  }

  IoLoop loop_{"test"};
  const std::shared_ptr<ComputedObjects> objects_ = std::make_shared<ComputedObjects>("Thing", "example.com/v1");
};

TEST_F(Computed, OnlyWhatDiffersIsAnEvent) {
  objects_->set({{"a", thing("a", 1)}, {"b", thing("b", 1)}});
  const auto first = objects_->list();
  auto stream = watch(std::to_string(first.revision));
  objects_->set({{"a", thing("a", 1)}, {"b", thing("b", 1)}});
  EXPECT_EQ(objects_->list().revision, first.revision);
  objects_->set({{"b", thing("b", 2)}, {"c", thing("c", 1)}});
  EXPECT_EQ(next(*stream), "DELETED a, MODIFIED b, ADDED c");
  EXPECT_EQ(objects_->find("a"), nullptr);
}

TEST_F(Computed, AListNamesItsRevisionAndObjectsHaveTheirs) {
  objects_->set({{"a", thing("a", 1)}});
  const auto list = objects_->list();
  ASSERT_EQ(list.objects.size(), 1u);
  const std::string json(list.objects[0]->json().view());
  EXPECT_NE(json.find("\"resourceVersion\":\"" + std::to_string(list.revision) + "\""), std::string::npos) << json;
  EXPECT_EQ("{" + json.substr(list.objects[0]->item_offset()).substr(0, 10), "{\"metadata\"");
}

TEST_F(Computed, AWatchBeginsWithTheObjectsOrAtARevision) {
  objects_->set({{"a", thing("a", 1)}});
  const auto revision = objects_->list().revision;
  objects_->set({{"a", thing("a", 2)}});
  EXPECT_EQ(next(*watch("0")), "ADDED a");
  EXPECT_EQ(next(*watch("")), "ADDED a");
  EXPECT_EQ(next(*watch(std::to_string(revision))), "MODIFIED a");
  EXPECT_EQ(next(*watch("", true)), "ADDED a, BOOKMARK ");
  ListOptions former;
  former.resource_version = "1";
  const auto refused = objects_->watch(former);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().reason(), Reason::kExpired);
}

TEST_F(Computed, AWaitingWatchIsWokenByAChangeAndByItsEnd) {
  objects_->set({});
  auto stream = watch(std::to_string(objects_->list().revision));
  loop_.after(std::chrono::milliseconds(10), [this] { objects_->set({{"a", thing("a", 1)}}); });
  EXPECT_EQ(next(*stream), "ADDED a");
  loop_.after(std::chrono::milliseconds(10), [&] { stream->cancel(); });
  EXPECT_EQ(next(*stream), "");
}

}  // namespace
}  // namespace backplane

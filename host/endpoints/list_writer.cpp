#include "endpoints/list_writer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/origin_executor.hpp"
#include "base/spent_time.hpp"
#include "base/yield.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/body_writer.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/table_rows.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {
namespace {

// How one list is written.
struct Plan {
  MediaType media;
  Presentation as;
  TableForm form;  // set if the response is a table
  ListFacts facts;
  ListTexts texts;

  bool is_table() const noexcept { return media.shape == Shape::kTable; }
  std::string_view items_key() const noexcept { return is_table() ? "rows" : "items"; }
};

// Collects an item in a separate text, for items that are converted before they are written.
class TextSink final : public ItemSink {
 private:
  void share(SharedBytes bytes) override { text_.append(bytes.view()); }
};

// The texts of an empty list, with columns and rows in place of the items.
Result<ListTexts> table_texts(const Plan& plan) {
  auto made = plan.media.codec->list(plan.as, plan.facts, {});
  if (!made.ok()) return made;
  constexpr std::string_view kItems = "\"items\":[";
  std::string head = std::move(made->head);
  head.resize(head.size() - kItems.size());
  head.append("\"columnDefinitions\":");
  append_columns(head, *plan.form.convertor);
  head.append(",\"rows\":");
  // For kinds without a printer, upstream's default printer has null in place of an empty list.
  const bool none = plan.form.convertor == &default_table_convertor();
  made->empty = none ? head + "null" + made->tail.substr(1) : head + "[" + made->tail;
  made->head = head.append("[");
  return made;
}

// The texts of a list in YAML: members sorted, items as a block sequence.
ListTexts yaml_texts(const ListTexts& json, std::string_view items) {
  json::error_code error;
  Value list = json::parse(json.empty, error);
  ListTexts texts;
  if (error || !list.is_object()) return texts;
  std::vector<std::string_view> keys;
  for (const auto& member : list.get_object()) keys.push_back(member.key());
  std::sort(keys.begin(), keys.end());
  bool after = false;
  for (const std::string_view key : keys) {
    after = after || key == items;
    if (key == items) continue;
    std::string& out = after ? texts.tail : texts.head;
    out.append(to_yaml(Object{{key, list.get_object()[key]}}));
  }
  const bool none = list.get_object()[items].is_null();
  texts.empty = texts.head + std::string(items) + (none ? ": null\n" : ": []\n") + texts.tail;
  texts.head.append(items).append(":\n");
  return texts;
}

Result<ListTexts> make_texts(const Plan& plan, const ListMeasure& measure) {
  auto texts = plan.is_table() ? table_texts(plan) : plan.media.codec->list(plan.as, plan.facts, measure);
  if (texts.ok() && plan.media.shape == Shape::kMetadataList && plan.media.codec->is_text()) {
    // Upstream has null in place of an empty list.
    const auto none = texts->empty.rfind("\"items\":[]");
    if (none != std::string::npos) texts->empty.replace(none, std::string_view("\"items\":[]").size(), "\"items\":null");
  }
  if (texts.ok() && plan.media.yaml) return yaml_texts(*texts, plan.items_key());
  return texts;
}

Result<Plan> make_plan(const Resource& resource, const RequestContext& context, const MediaType& media, const ListResult& list) {
  Plan plan;
  plan.media = media;
  plan.as = media.presentation(resource.schema);
  plan.facts = {resource.list_kind, resource.api_version, list.revision, list.continue_token, list.remaining};
  if (media.shape == Shape::kMetadata) {
    return not_acceptable("you requested PartialObjectMetadata, but the requested object is a list (" + resource.go_type(true) + ")");
  }
  if (media.shape == Shape::kMetadataList) {
    plan.facts.kind = "PartialObjectMetadataList";
    plan.facts.api_version = media.meta_version();
  } else if (media.shape == Shape::kTable) {
    auto form = table_form(context.info.query, media, *resource.table, resource.schema);
    if (!form.ok()) return std::move(form.status());
    plan.form = *form;
    // The members of the table are in the order of its type, regardless of the rows.
    plan.as = form->presentation;
    plan.facts.kind = "Table";
    plan.facts.api_version = media.meta_version();
  }
  return plan;
}

Status append_item(const Plan& plan, const ObjectEntry& entry, ItemSink& out) {
  if (!plan.is_table()) return plan.media.codec->item(plan.as, entry, out);
  append_row(out.text(), entry, plan.form);
  return {};
}

Status write_item(const Plan& plan, const ObjectEntry& entry, BodyWriter& out) {
  if (!plan.media.yaml) return append_item(plan, entry, out);
  TextSink item;
  item.text().push_back('[');
  Status status = append_item(plan, entry, item);
  out.text().append(yaml_of(item.text().append("]")));
  return status;
}

// True if the item must be encoded, which costs time in proportion to its length; false if its bytes exist and are shared.
bool is_made(const Plan& plan, const ObjectEntry& entry) {
  if (plan.is_table() || plan.media.yaml || plan.media.indented() || plan.as.metadata_only) return true;
  return !plan.media.codec->is_text() && entry.form(*plan.media.codec) == nullptr;
}

// The work between two yields to other requests of the loop: some tenths of a millisecond.
class Stint {
 public:
  explicit Stint(const Plan& plan) : plan_(plan), most_(plan.media.yaml ? kYaml : plan.is_table() ? kRows : kItems) {}

  // Counts an item that is about to be written.
  void add(const ObjectEntry& entry) { done_ += 1 + entry.json_size() / (is_made(plan_, entry) ? kMadeBytes : kSharedBytes); }
  // True if the work since the last yield is done; the next add() begins the next portion.
  bool over() {
    // The cost of a row does not follow from the size of its object, so tables are also limited by time.
    const bool late = plan_.is_table() && Clock::now() >= until_;
    if (done_ < most_ && !late) return false;
    done_ = 0;
    return true;
  }
  void begin() {
    if (plan_.is_table()) until_ = Clock::now() + kTime;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kYaml = 16, kRows = 64, kItems = 256;  // items; each kMadeBytes or kSharedBytes of an item count as one more
  static constexpr std::size_t kMadeBytes = 4 * 1024, kSharedBytes = 64 * 1024;
  static constexpr std::chrono::microseconds kTime{500};
  const Plan& plan_;
  const std::size_t most_;
  std::size_t done_ = 0;
  Clock::time_point until_ = Clock::now() + kTime;
};

// The items of a list in batches; each read resumes on the executor of the first one.
class Batches {
 public:
  explicit Batches(ListResult& list) : list_(list) {}
  Task<Result<std::span<const ObjectEntry* const>>> next() {
    auto reading = list_.items->next();
    auto batch = co_await std::move(reading);
    co_await origin_;
    co_return batch;
  }

 private:
  ListResult& list_;
  const OriginExecutor origin_;
};

// Prefetches the entries and the first bytes of the next items, which are scattered in memory.
void fetch_ahead(std::span<const ObjectEntry* const> batch, std::size_t at) {
  constexpr std::size_t kObjects = 8, kBytes = 4;
  if (at + kObjects < batch.size()) __builtin_prefetch(batch[at + kObjects]);
  if (at + kBytes < batch.size()) batch[at + kBytes]->prefetch_json();
}

// Calls `visitor` for each item and yields between portions: begin() when the first batch has been read, visit() for each item, and empty()
// whenever full() is true.
// Errors: those of the cursor and of the visitor.
template <class Visitor>
Task<Status> walk(const Plan& plan, ListResult& list, Visitor& visitor) {
  Batches batches(list);
  auto reading = batches.next();
  auto batch = co_await std::move(reading);
  if (!batch.ok()) co_return std::move(batch.status());
  visitor.begin();
  Stint stint(plan);
  while (!batch->empty()) {
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const ObjectEntry& entry = *(*batch)[i];
      fetch_ahead(*batch, i);
      stint.add(entry);
      Status visited = visitor.visit(entry);
      if (!visited.ok()) co_return visited;
      if (stint.over()) {
        co_await Yield{};
        stint.begin();
      }
      if (!visitor.full()) continue;
      Status emptied = co_await visitor.empty();
      if (!emptied.ok()) co_return emptied;
    }
    reading = batches.next();
    batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
  }
  co_return Status();
}

// Measures the items, for a codec that needs the sum before it writes the first one.
class Measurer {
 public:
  // `holds`: the cursor cannot be rewound, so the items are stored.
  Measurer(const Plan& plan, bool holds) : plan_(plan), holds_(holds) {}
  void begin() {}
  Status visit(const ObjectEntry& entry) {
    if (holds_) held_.push_back(std::make_shared<const ObjectEntry>(entry));
    return plan_.media.codec->measure(plan_.as, entry, sum_);
  }
  bool full() const noexcept { return false; }
  Task<Status> empty() { co_return Status(); }
  const ListMeasure& sum() const noexcept { return sum_; }
  std::vector<ObjectRef> take_held() noexcept { return std::move(held_); }

 private:
  const Plan& plan_;
  const bool holds_;
  ListMeasure sum_;
  std::vector<ObjectRef> held_;
};

Task<Result<ListMeasure>> measure_items(const Plan& plan, ListResult& list) {
  if (!plan.media.codec->measures_lists()) co_return ListMeasure();
  // The items of a cursor that cannot be rewound are stored.
  const bool again = list.items->rewind();
  Measurer measurer(plan, !again);
  auto walking = walk(plan, list, measurer);
  Status walked = co_await std::move(walking);
  if (!walked.ok()) co_return walked;
  if (again) {
    list.items->rewind();
  } else {
    list.items = make_cursor(measurer.take_held());
  }
  co_return measurer.sum();
}

// Sorts the items of a table with sorts_rows().  Such tables are short, so all items are in memory during the sort.
Task<Status> sort_rows(const Plan& plan, ListResult& list) {
  const TableConvertor* const table = plan.is_table() ? plan.form.convertor : nullptr;
  if (table == nullptr || !table->sorts_rows()) co_return Status();
  Batches batches(list);
  std::vector<std::pair<std::int64_t, ObjectRef>> held;
  for (;;) {
    auto reading = batches.next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
    if (batch->empty()) break;
    for (const ObjectEntry* entry : *batch) {
      held.emplace_back(table->row_position(decode(*entry, json::storage_ptr())), std::make_shared<const ObjectEntry>(*entry));
    }
    co_await Yield{};
  }
  std::stable_sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ObjectRef> items;
  items.reserve(held.size());
  for (auto& [place, item] : held) items.push_back(std::move(item));
  list.items = make_cursor(std::move(items));
  co_return Status();
}

// The list as JSON for the audit event, whatever encoding the client gets.
class AuditedList {
 public:
  explicit AuditedList(const Plan& plan) : plan_(plan) {
    plan_.media.codec = &json_codec();
    plan_.media.yaml = plan_.media.pretty = false;
    auto texts = make_texts(plan_, ListMeasure());
    if (texts.ok()) plan_.texts = std::move(*texts);
  }
  void add(const ObjectEntry& entry) {
    json_.text().append(std::exchange(begun_, true) ? plan_.texts.separator : std::string_view(plan_.texts.head));
    // An item that cannot be encoded is reported to the client.
    (void)append_item(plan_, entry, json_).ok();
  }
  SharedBytes end() {
    json_.text().append(begun_ ? plan_.texts.tail : plan_.texts.empty);
    return SharedBytes(std::move(json_.text()));
  }

 private:
  Plan plan_;
  TextSink json_;
  bool begun_ = false;
};

// Writes the response: head, items, tail.
class ItemsWriter {
 public:
  ItemsWriter(RequestContext& context, Exchange& exchange, const MediaType& media, const Plan& plan)
      : context_(context), exchange_(exchange), media_(media), plan_(plan) {
    if (audits(context, AuditLevel::kRequestResponse)) audited_.emplace(plan);
  }

  void begin() {
    add_warning_headers(context_, exchange_);
    exchange_.set_compressible(true);
    out_.emplace(exchange_, 200, media_.content_type(), media_.indented());
  }
  Status visit(const ObjectEntry& entry) {
    if (audited_) audited_->add(entry);
    out_->text().append(std::exchange(begun_, true) ? plan_.texts.separator : std::string_view(plan_.texts.head));
    return write_item(plan_, entry, *out_);
  }
  bool full() const noexcept { return out_->full(); }
  Task<Status> empty() {
    Status sent = co_await out_->flush();
    gone_ = !sent.ok();
    co_return sent;
  }
  // True if the client has disconnected.
  bool gone() const noexcept { return gone_; }
  Task<Status> end() {
    out_->text().append(begun_ ? plan_.texts.tail : plan_.texts.empty);
    if (audited_) context_.audit->response_object = audited_->end();
    Status sent = co_await out_->finish();
    co_return sent;
  }

 private:
  RequestContext& context_;
  Exchange& exchange_;
  const MediaType& media_;
  const Plan& plan_;
  std::optional<BodyWriter> out_;
  std::optional<AuditedList> audited_;
  bool begun_ = false;
  bool gone_ = false;
};

}  // namespace

Task<Status> send_list(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, ListResult list) {
  auto plan = make_plan(resource, context, media, list);
  if (!plan.ok()) co_return std::move(plan.status());
  if (list.items == nullptr) list.items = make_cursor({});
  auto sorting = sort_rows(*plan, list);
  Status sorted = co_await std::move(sorting);
  if (!sorted.ok()) co_return sorted;
  auto measuring = measure_items(*plan, list);
  auto measure = co_await std::move(measuring);
  if (!measure.ok()) co_return std::move(measure.status());
  auto texts = make_texts(*plan, *measure);
  if (!texts.ok()) co_return std::move(texts.status());
  plan->texts = std::move(*texts);
  TraceSpan span(&context, "SerializeObject", SpanKind::kInternal, TraceSpan::Use::kExported);
  describe_serialization(span, context, exchange, media);
  const SpentTime spent(context, &RequestLatencies::serialization);
  ItemsWriter writer(context, exchange, media, *plan);
  auto writing = walk(*plan, list, writer);
  Status written = co_await std::move(writing);
  if (!written.ok()) co_return writer.gone() ? Status() : written;
  auto ending = writer.end();
  Status sent = co_await std::move(ending);
  span.step(sent.ok() ? "Write call succeeded" : "Write call failed");
  if (!sent.ok()) exchange.abort();
  co_return Status();
}

}  // namespace backplane::endpoints

// Facts about the database's files, and the check of them: first the checksums of each segment file, then every row.
//
// Thread-safety: any thread; blocks while it reads.
// Errors:        kServiceUnavailable after the database was closed.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/store_inspection.hpp"
#include "database.hpp"

namespace backplane::rocks {

Result<StoreFacts> read_facts(const Database& database);
// Checks one segment, or some thousands of rows. `from`: StoreCheckPart::next of the part before.
Result<StoreCheckPart> check_part(const Database& database, std::string_view from);

// The file and the offset in a message of RocksDB; otherwise the whole message with an empty file.
StoreDamage parse_damage(const std::string& message);

}  // namespace backplane::rocks

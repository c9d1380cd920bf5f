#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/style/rules.h"

namespace phx::style {
namespace {

/// Which names of namespace std a standard header is included for. A header of this table may be
/// compiled with all others before it, so nothing but this says that it is missing.
const std::map<std::string, std::string> kNames = {
    {"algorithm",
     "max min clamp sort find find_if copy_n copy any_of all_of none_of stable_sort "
     "max_element min_element rotate lower_bound upper_bound reverse count_if minmax "
     "minmax_element unique transform stable_partition nth_element push_heap pop_heap fill "
     "fill_n equal binary_search lexicographical_compare next_permutation adjacent_find "
     "remove_if shift_right merge ranges::any_of ranges::all_of ranges::none_of "
     "ranges::find ranges::find_if ranges::find_if_not ranges::sort ranges::stable_sort "
     "ranges::lower_bound ranges::upper_bound ranges::min_element ranges::max_element "
     "ranges::count_if ranges::count ranges::copy ranges::replace ranges::replace_if "
     "ranges::remove_copy_if ranges::merge ranges::equal ranges::reverse ranges::fill "
     "ranges::unique ranges::transform ranges::contains ranges::is_sorted "
     "ranges::adjacent_find ranges::partial_sort ranges::max ranges::min includes count "
     "ranges::binary_search"},
    {"array", "array"},
    {"atomic",
     "atomic memory_order_relaxed memory_order_release memory_order_acquire "
     "memory_order_seq_cst memory_order_acq_rel atomic_ref atomic_thread_fence memory_order"},
    {"bit",
     "bit_width bit_ceil bit_floor has_single_bit countr_zero countl_zero popcount endian "
     "bit_cast"},
    {"cctype", "iscntrl isdigit isalpha isalnum tolower isspace isprint"},
    {"charconv", "from_chars to_chars chars_format"},
    {"chrono", "chrono chrono_literals"},
    {"cmath",
     "isfinite log floor pow log10 exp sqrt lround log2 ldexp ceil isnan llround nan hypot"},
    {"complex", "complex"},
    {"concepts", "same_as constructible_from"},
    {"condition_variable", "condition_variable"},
    {"csignal", "signal sig_atomic_t raise"},
    {"cstdarg", "va_list"},
    {"cstddef", "byte to_integer max_align_t"},
    {"cstdint",
     "uint64_t uint32_t uint16_t uint8_t int64_t int32_t int16_t int8_t intptr_t uintptr_t"},
    {"cstdio",
     "fprintf printf fflush fputs snprintf fopen fclose perror fwrite fgetc ferror vprintf "
     "sscanf setvbuf putchar fscanf fread FILE rename fgets tmpfile rewind"},
    {"cstdlib",
     "getenv free atoi strtol strtod atol malloc exit abort _Exit strtoull strtoul aligned_alloc"},
    {"cstring", "memcpy strerror strlen strchr memcmp strcmp memset strstr"},
    {"ctime", "time_t tm time strftime timespec"},
    {"deque", "deque"},
    {"exception",
     "exception exception_ptr uncaught_exceptions terminate current_exception "
     "rethrow_exception"},
    {"filesystem", "filesystem"},
    {"forward_list", "forward_list"},
    {"fstream", "ifstream ofstream fstream"},
    {"functional", "function ref cref bind_front plus not_equal_to"},
    {"future", "async launch future promise shared_future"},
    {"ios", "ios"},
    {"iostream", "cerr cout cin"},
    {"istream", "istream ws streamsize"},
    {"iterator",
     "next prev back_inserter istreambuf_iterator move_iterator distance "
     "bidirectional_iterator_tag forward_iterator_tag ssize advance inserter"},
    {"limits", "numeric_limits"},
    {"list", "list"},
    {"map", "map multimap"},
    {"memory",
     "shared_ptr unique_ptr make_shared make_unique enable_shared_from_this weak_ptr "
     "make_shared_for_overwrite make_unique_for_overwrite align"},
    {"mutex", "lock_guard mutex unique_lock once_flag scoped_lock call_once"},
    {"new", "nothrow launder bad_alloc nothrow_t"},
    {"numeric", "iota accumulate partial_sum transform_reduce reduce gcd"},
    {"optional", "optional nullopt"},
    {"ostream", "ostream endl flush"},
    {"queue", "priority_queue queue"},
    {"random", "random_device mt19937 mt19937_64 uniform_int_distribution"},
    {"ratio", "ratio milli nano micro"},
    {"regex", "regex regex_match smatch regex_search regex_replace sregex_iterator"},
    {"semaphore", "binary_semaphore counting_semaphore"},
    {"unordered_set", "unordered_set"},
    {"set", "set multiset"},
    {"span", "span as_bytes as_writable_bytes"},
    {"sstream", "ostringstream istringstream stringstream"},
    {"stdexcept", "runtime_error logic_error domain_error invalid_argument out_of_range"},
    {"stop_token", "stop_token"},
    {"string", "string to_string getline stoul stoull string_literals stod stoi"},
    {"string_view", "string_view"},
    {"system_error",
     "error_code errc system_category generic_category system_error make_error_code"},
    {"thread", "this_thread thread jthread"},
    {"tuple", "tuple tie apply"},
    {"type_traits",
     "is_same_v is_integral_v remove_cvref_t is_empty_v decay_t is_aggregate_v "
     "make_unsigned_t is_floating_point_v type_identity is_trivially_copyable_v "
     "is_signed_v is_polymorphic_v is_class_v invoke_result_t conditional_t common_type_t "
     "remove_reference_t remove_const_t is_pointer_v is_invocable_v "
     "is_default_constructible_v is_copy_constructible_v is_convertible_v "
     "is_constructible_v is_array_v is_arithmetic_v true_type false_type is_enum_v "
     "enable_if_t"},
    {"unordered_map", "unordered_map"},
    {"utility",
     "as_const move exchange forward declval index_sequence make_index_sequence index_sequence_for "
     "in_place_type in_place_index in_place pair swap"},
    {"variant",
     "get_if visit holds_alternative variant variant_size_v monostate "
     "variant_alternative_t"},
    {"vector", "vector"},
};

/// Headers that are as good for these: the standard says so, or what they are for cannot be had
/// without.
const std::map<std::string, std::string> kAlso = {
    {"algorithm", "move swap"},
    {"array", "move ssize"},
    {"charconv", "errc error_code"},
    {"chrono", "time_t"},
    {"cmath", "abs"},
    {"condition_variable", "mutex unique_lock"},
    {"cstdio", "remove"},
    {"cstdlib", "abs"},
    {"deque", "move"},
    {"filesystem", "errc error_code string string_view"},
    {"fstream", "ios istream ostream streamsize string flush endl"},
    {"functional", "forward move"},
    {"ios", "streamsize"},
    {"iostream", "ios istream ostream streamsize string ws flush endl"},
    {"istream", "getline"},
    {"map", "move pair"},
    {"memory", "forward move"},
    {"new", "exception"},
    {"optional", "move"},
    {"regex", "string"},
    {"set", "move"},
    {"span", "byte ssize"},
    {"sstream", "ios istream ostream string ws flush endl"},
    {"stdexcept", "exception string"},
    {"string", "move ssize string_view swap"},
    {"thread", "chrono stop_token"},
    {"tuple", "forward move pair"},
    {"type_traits", "declval"},
    {"unordered_map", "pair"},
    {"variant", "forward move"},
    {"vector", "move ssize swap"},
};

/// In so many headers that whoever needs one has one.
const char* const kAnywhere =
    "size_t ptrdiff_t erase erase_if get greater less hash initializer_list begin end size data "
    "cbegin invoke tuple_size_v remove abs ranges::begin ranges::end ranges::subrange "
    "ranges::views ranges::range_value_t ranges::size";

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> all;
  for (std::string word; in >> word;) all.insert(word);
  return all;
}

/// The headers that give each name.
std::map<std::string, std::set<std::string>> headers_of_names() {
  std::map<std::string, std::set<std::string>> headers;
  for (const auto* table : {&kNames, &kAlso}) {
    for (const auto& [header, names] : *table) {
      for (const std::string& name : words(names)) headers[name].insert(header);
    }
  }
  return headers;
}

/// All that a file of ours includes from outside, itself or through others of ours.
class Included {
 public:
  explicit Included(const SourceTree& tree) : tree_(tree) {}

  const std::set<std::string>& by(const SourceFile& file) {
    const auto [found, is_new] = known_.try_emplace(file.path);
    if (!is_new) return found->second;  // Two may include each other.
    static const std::regex include(R"re(^\s*#\s*include\s*[<"]([^">]+)[">])re");
    std::set<std::string> all;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const SourceFile* ours = tree_.find(match[1]);
      if (ours == nullptr) all.insert(match[1]);
      if (ours != nullptr) all.merge(std::set<std::string>(by(*ours)));
    }
    return known_[file.path] = std::move(all);
  }

 private:
  const SourceTree& tree_;
  std::map<std::string, std::set<std::string>> known_;
};

std::string one_of(const std::set<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) text += (text.empty() ? "<" : " or <") + header + ">";
  return text;
}

}  // namespace

Violations standard_header_rules(const SourceTree& tree) {
  static const std::regex name(R"(\bstd::(ranges::\w+|\w+))");
  static const auto headers = headers_of_names();
  static const auto anywhere = words(kAnywhere);
  Violations violations;
  Included included(tree);
  for (const auto& [path, file] : tree.files()) {
    // The parts of mpi.h are C; the examples and the outside consumer are projects of their own.
    const bool is_apart = file.is_below("runtime/mpi/include") || file.is_below("tests/consumer") ||
                          file.is_below("apps/examples");
    if (!file.is_cpp() || is_apart) continue;
    const std::set<std::string>& there = included.by(file);
    std::set<std::string> told;
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::string& line = file.code[i];
      for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) {
        const std::string used = (*at)[1];
        if (anywhere.contains(used) || !told.insert(used).second) continue;
        const auto known = headers.find(used);
        if (known == headers.end()) {
          violations.push_back({path, i + 1, "std::" + used + " is in no table of this rule"});
        } else if (std::none_of(known->second.begin(), known->second.end(),
                                [&](const auto& header) { return there.contains(header); })) {
          violations.push_back({path, i + 1, "std::" + used + " needs " + one_of(known->second)});
        }
      }
    }
  }
  return violations;
}

}  // namespace phx::style

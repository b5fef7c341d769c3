/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
#include "xfer/options.h"

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "xfer/error.h"

namespace xfer {
namespace {

constexpr char kHelp[] =
    R"(vcx_xfer - move pseudo-random data over RC queue pairs and check every byte.

  vcx_xfer --self  [options]       both ends in this process
  vcx_xfer --serve [options]       wait for one client, do what it asks
  vcx_xfer --to HOST [options]     connect to a server (by TCP) and run

Messages have random sizes, offsets, scatter/gather lists and flags, made from
the seed; both sides know what must arrive where. The receiving side compares
every byte, and that nothing else in its memory has changed.

Where:
  -d, --device NAME    RDMA device [the first]
  --port N             port of the device [1]
  --gid-index N        use a global route with this GID [Ethernet only]
  --mtu N              path MTU: 256 to 4096 [the port's]
  --tcp-port N         where the server listens [18600]
  --timeout S          give up after S seconds without progress [30]

How; each side for itself:
  --events             sleep until completion events instead of polling
  --solicited          with --events: receivers wait for solicited events only
  --wr-api             post with ibv_wr_*() instead of ibv_post_send()

What; a server takes these from its client:
  --op LIST            write, write-imm, read, send, send-imm, or mixed, which
                       is all of them; several with commas [mixed]
  --bytes N            payload bytes of all QPs together [16M]
  --rounds N           N rounds on each QP instead, whatever they move
  --max-size N         largest message [256K]; sizes are 0 to N
  --fixed-size N       every message has this size
  --area N             bytes of memory per QP and direction [fits max-size]
  --qps N              queue pairs, each moving its share [1]
  --both               every second QP is driven from the server's side
  --depth N            send work requests at a time, 1 to 4096 [16]
  --sges N             entries of a scatter/gather list at most, 1 to 32 [4]
  --inline N           send small messages inline, up to N bytes [64]
  --seed N             another seed, other traffic [1]
  --spoil              damage a received byte to see that it is noticed

N may end in K, M or G (powers of two). The last line is the result; MB/s is
10^6 payload bytes per second, and includes making and checking the data.
Exit code: 0 all data arrived as it was sent; 1 it did not, or a work request
failed; 2 wrong command line.
)";

// Long options without a letter.
enum Long {
  kSelfMode = 256,
  kServe,
  kTo,
  kPort,
  kGidIndex,
  kMtu,
  kTcpPort,
  kTimeout,
  kEvents,
  kSolicited,
  kWrApi,
  kOp,
  kBytes,
  kRounds,
  kMaxSize,
  kFixedSize,
  kArea,
  kQps,
  kBoth,
  kDepth,
  kSges,
  kInline,
  kSeed,
  kSpoil,
};

constexpr option kLong[] = {
    {"help", no_argument, nullptr, 'h'},
    {"device", required_argument, nullptr, 'd'},
    {"self", no_argument, nullptr, kSelfMode},
    {"serve", no_argument, nullptr, kServe},
    {"to", required_argument, nullptr, kTo},
    {"port", required_argument, nullptr, kPort},
    {"gid-index", required_argument, nullptr, kGidIndex},
    {"mtu", required_argument, nullptr, kMtu},
    {"tcp-port", required_argument, nullptr, kTcpPort},
    {"timeout", required_argument, nullptr, kTimeout},
    {"events", no_argument, nullptr, kEvents},
    {"solicited", no_argument, nullptr, kSolicited},
    {"wr-api", no_argument, nullptr, kWrApi},
    {"op", required_argument, nullptr, kOp},
    {"bytes", required_argument, nullptr, kBytes},
    {"rounds", required_argument, nullptr, kRounds},
    {"max-size", required_argument, nullptr, kMaxSize},
    {"fixed-size", required_argument, nullptr, kFixedSize},
    {"area", required_argument, nullptr, kArea},
    {"qps", required_argument, nullptr, kQps},
    {"both", no_argument, nullptr, kBoth},
    {"depth", required_argument, nullptr, kDepth},
    {"sges", required_argument, nullptr, kSges},
    {"inline", required_argument, nullptr, kInline},
    {"seed", required_argument, nullptr, kSeed},
    {"spoil", no_argument, nullptr, kSpoil},
    {},
};

constexpr Op kAllOps[] = {Op::kWrite, Op::kWriteImm, Op::kRead, Op::kSend,
                          Op::kSendImm};

uint64_t ParseNumber(const char* name, const char* text, uint64_t low,
                     uint64_t high) {
  char* end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text, &end, 0);
  int shift = 0;
  switch (*end) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    default: break;
  }
  if (shift != 0) end++;
  if (end == text || *end != '\0' || *text == '-' || errno != 0 ||
      value > (UINT64_MAX >> shift) || value << shift < low ||
      value << shift > high)
    throw UsageError(std::format("--{} wants a number from {} to {}, not '{}'",
                                 name, low, high, text));
  return value << shift;
}

std::vector<Op> ParseOps(const std::string& text) {
  std::vector<Op> ops;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t before = ops.size();
    for (const Op op : kAllOps)
      if (word == OpName(op) || word == "mixed") ops.push_back(op);
    if (ops.size() == before)
      throw UsageError(std::format("--op does not know '{}'", word));
  }
  if (ops.empty()) throw UsageError("--op names nothing");
  return ops;
}

bool ParseTraffic(int letter, const char* name, Traffic& t) {
  const auto number = [&](uint64_t low, uint64_t high) {
    return ParseNumber(name, optarg, low, high);
  };
  const auto small = [&](uint64_t low, uint64_t high) {
    return static_cast<uint32_t>(number(low, high));
  };
  switch (letter) {
    case kOp: t.ops = ParseOps(optarg); return true;
    case kBytes: t.bytes = number(1, UINT64_MAX >> 1); return true;
    case kRounds: t.rounds = number(1, UINT32_MAX); return true;
    case kMaxSize: t.max_size = small(1, 1u << 30); return true;
    case kFixedSize:
      t.max_size = small(1, 1u << 30);
      t.fixed_size = 1;
      return true;
    case kArea: t.area = small(64, 1u << 30); return true;
    case kQps: t.qps = small(1, 100000); return true;
    case kBoth: t.both = 1; return true;
    case kDepth: t.depth = small(1, 4096); return true;
    case kSges: t.sges = small(1, 32); return true;
    case kInline: t.max_inline = small(0, 4096); return true;
    case kSeed: t.seed = number(0, UINT64_MAX); return true;
    case kSpoil: t.spoil = 1; return true;
    default: return false;
  }
}

bool ParseLocal(int letter, const char* name, Options& o) {
  const auto number = [&](uint64_t low, uint64_t high) {
    return static_cast<int>(ParseNumber(name, optarg, low, high));
  };
  switch (letter) {
    case 'd': o.device = optarg; return true;
    case kPort: o.port = number(1, 255); return true;
    case kGidIndex: o.gid_index = number(0, 255); return true;
    case kMtu:
      o.mtu = number(256, 4096);
      if ((o.mtu & (o.mtu - 1)) != 0)
        throw UsageError("--mtu wants 256, 512, 1024, 2048 or 4096");
      return true;
    case kTcpPort: o.tcp_port = number(1, 65535); return true;
    case kTimeout: o.timeout = number(1, 86400); return true;
    case kEvents: o.events = true; return true;
    case kSolicited: o.events = o.solicited = true; return true;
    case kWrApi: o.wr_api = true; return true;
    default: return false;
  }
}

void CheckTraffic(Traffic& t) {
  if (t.ops.empty()) t.ops.assign(std::begin(kAllOps), std::end(kAllOps));
  // Room for some messages of any size at once, and for gaps between them.
  if (t.area == 0) {
    const uint64_t wanted = uint64_t{t.max_size} * 3 + 4096;
    t.area = static_cast<uint32_t>(std::min<uint64_t>(wanted, 1u << 30));
  }
  if (t.area < t.max_size)
    throw UsageError(std::format("--area {} does not hold a message of {}",
                                 t.area, t.max_size));
}

}  // namespace

const char* OpName(Op op) {
  switch (op) {
    case Op::kWrite: return "write";
    case Op::kWriteImm: return "write-imm";
    case Op::kRead: return "read";
    case Op::kSend: return "send";
    case Op::kSendImm: return "send-imm";
  }
  return "?";
}

std::string ToText(const Traffic& t) {
  std::ostringstream out;
  out << "xfer1 " << t.bytes << ' ' << t.rounds << ' ' << t.max_size << ' '
      << t.fixed_size << ' ' << t.area << ' ' << t.qps << ' ' << t.depth << ' '
      << t.sges << ' ' << t.max_inline << ' ' << t.seed << ' ' << t.both << ' '
      << t.spoil << ' ' << t.ops.size();
  for (const Op op : t.ops) out << ' ' << static_cast<int>(op);
  return out.str();
}

Traffic TrafficFromText(const std::string& text) {
  std::istringstream in(text);
  std::string magic;
  Traffic t;
  size_t ops = 0;
  in >> magic >> t.bytes >> t.rounds >> t.max_size >> t.fixed_size >> t.area >>
      t.qps >> t.depth >> t.sges >> t.max_inline >> t.seed >> t.both >>
      t.spoil >> ops;
  for (int op = 0; ops > 0 && in >> op; ops--)
    t.ops.push_back(static_cast<Op>(op));
  if (!in || magic != "xfer1" || t.ops.empty())
    Fail("the client sent no valid request");
  return t;
}

Options ParseOptions(int argc, char** argv) {
  Options o;
  int roles = 0, index = 0;
  opterr = 0;
  for (int letter;
       (letter = getopt_long(argc, argv, "hd:", kLong, &index)) != -1;) {
    const char* name = letter == 'd' ? "device" : kLong[index].name;
    if (letter == 'h') {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (letter == kSelfMode || letter == kServe || letter == kTo) {
      o.role = letter == kSelfMode ? Role::kSelf
               : letter == kServe  ? Role::kServe
                                   : Role::kClient;
      if (letter == kTo) o.peer = optarg;
      roles++;
    } else if (letter == '?' || (!ParseTraffic(letter, name, o.traffic) &&
                                 !ParseLocal(letter, name, o))) {
      throw UsageError(std::format("'{}' is not an option or lacks its value",
                                   argv[optind - 1]));
    }
  }
  if (optind != argc)
    throw UsageError(std::format("'{}' was not expected", argv[optind]));
  if (roles != 1) throw UsageError("say one of --self, --serve, --to HOST");
  CheckTraffic(o.traffic);
  return o;
}

}  // namespace xfer

// The keys of [channel] and of one of its links.
#include "experiment/file/fields.hpp"

namespace rubato::config {

void describe(Rows<Channel>& rows) {
  rows.table = "channel";
  rows.key("kind", &Channel::kind,
           "ideal loses nothing and has one constant delay; random draws; table lists every link; wireless has path loss, fading "
           "and interference; rayleigh_threshold has links that are up or down; aircomp adds models up in the air; bandwidth is "
           "shared; trace reads a file; bursty has links that are good and bad in turn");
  rows.key("delay", &Channel::delay, delays,
           "seconds from sending to arrival; drawn for every message; bandwidth: on top of the transfer; trace: of links that the "
           "file does not name")
      .with("kind=ideal|random|rayleigh_threshold|bandwidth|trace|bursty");
  rows.only_with("kind=random");
  rows.key("loss", &Channel::loss, chance_not_sure, "chance that a message is lost");
  rows.key("duplicate", &Channel::duplicate, chance, "chance that a message that is not lost arrives twice");
  rows.key("links", &Channel::links, "links that differ; for table every link of the graph").with("kind=random|table");
  rows.only_with("kind=wireless");
  rows.key("area", &Channel::area, "where clients are, uniformly: a disk, or the square that just holds it");
  rows.key("radius", &Channel::radius, positive, "of the disk, in metres");
  rows.key("positions", &Channel::positions, "text file with the place of each client, \"x y\" in metres a line; none: drawn");
  rows.key("speed_low", &Channel::speed_low, not_negative,
           "clients go straight to points drawn in the area, one after the other, at a speed drawn between speed_low and "
           "speed_high, in metres per second");
  rows.key("speed_high", &Channel::speed_high, not_negative, "as speed_low; 0: no client moves");
  rows.key("pause", &Channel::pause, seconds, "seconds of rest at each point");
  rows.key("power_dbm", &Channel::power_dbm, {-200, 200}, "of a transmitter; 30 dBm are 1 W").as(Type::per_client);
  rows.key("path_loss", &Channel::path_loss, {0, 10}, "exponent of the distance, which counts as at least 1 m");
  rows.key("bandwidth", &Channel::bandwidth, positive, "hertz");
  rows.key("bandwidth_use", &Channel::bandwidth_use, "every client has the bandwidth, or an equal part of it");
  rows.key("noise_dbm", &Channel::noise_dbm, {-300, 200}, "of one hertz");
  rows.key("interference", &Channel::interference,
           "transmitters within interference_share * radius of a receiver disturb it; or all clients there; or none");
  rows.key("interference_share", &Channel::interference_share, {0, 10, true}, "of the radius");
  rows.key("message_bytes", &Channel::message_bytes, positive, "of a message that carries models; none: as large as it is")
      .with("kind=wireless|bandwidth");
  rows.only_with("kind=rayleigh_threshold|aircomp");
  rows.key("threshold", &Channel::threshold, not_negative,
           "a link is up while its gain, which fades with mean power 1, is at least this");
  rows.key("threshold_of", &Channel::threshold_of, "of which gain");
  rows.only_with("kind=rayleigh_threshold");
  rows.key("up_when", &Channel::up_when,
           "a link is up when its gain is large enough, or when its time, drawn anew for every block, is within mailbox.deadline");
  rows.key("completion_mean", &Channel::completion_mean, some_seconds,
           "seconds; with up_when = \"time\" a message takes an exponential time");
  rows.key("coherence", &Channel::coherence, some_seconds,
           "seconds that the fading of a link lasts, outside rounds; in rounds: a round");
  rows.only_with("kind=aircomp");
  rows.key("power_cap", &Channel::power_cap, positive, "greatest mean power of a symbol");
  rows.key("noise", &Channel::noise, not_negative, "standard deviation of the noise in a received symbol");
  rows.key("slot", &Channel::slot, some_seconds, "seconds of a slot; every round has so many pairs of slots as its stars need");
  rows.key("slot_stars", &Channel::slot_stars,
           "in one pair of slots many stars that share no client, or one, so that one client sends at a time "
           "but for a sum");
  rows.only_with("kind=bandwidth");
  rows.key("up", &Channel::up, positive, "bits per second that a client can send").as(Type::per_client);
  rows.key("down", &Channel::down, positive, "bits per second that a client can receive").as(Type::per_client);
  rows.required(
          "file", &Channel::file,
          "text file, \"source,target,time,delay,loss\" a line; a row is in force from its time on, the first one before it, too")
      .with("kind=trace");
  rows.only_with("kind=bursty");
  rows.key("good_mean", &Channel::good_mean, some_seconds, "mean seconds that a link stays good, exponential");
  rows.key("bad_mean", &Channel::bad_mean, some_seconds, "the same of a link that is bad");
  rows.key("good_loss", &Channel::good_loss, chance_not_sure, "chance that a message sent over a good link is lost");
  rows.key("bad_loss", &Channel::bad_loss, chance, "the same over a bad link");
}

void describe(Rows<Link>& rows) {
  rows.table = "link";
  rows.required("source", &Link::source, "the sender").as(Type::client);
  rows.required("target", &Link::target, "the receiver").as(Type::client);
  rows.key("delay", &Link::delay, delays, "as in the channel; none: the channel's (for table it must be set)");
  rows.key("loss", &Link::loss, chance, "as in the channel; none: the channel's (0 for table)");
}

}  // namespace rubato::config

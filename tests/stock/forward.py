"""forward.py PORT SERVER-PORT: carries connections to a server of this machine, until it is killed."""
import socket, sys, threading
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    near, _ = listener.accept()
    try:
        far = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    except OSError:
        near.close()
        continue
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pump, args=pair, daemon=True).start()

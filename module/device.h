/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/auxtrace */
#ifndef AUXT_DEVICE_H
#define AUXT_DEVICE_H

int auxt_device_init(void);
void auxt_device_exit(void);

#endif /* AUXT_DEVICE_H */

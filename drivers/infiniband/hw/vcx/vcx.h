/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * vcx.h - the objects of the driver and what its files offer each other.
 *
 * Floors, from the top: verbs (device, pd, ah, mr, cq, qp, wr), one typed function
 * per firmware command (fw), the command queue (cmd), registers. Formats of
 * the hardware are touched in fw, qp_attr, ah, wr, cq and eq only.
 *
 * Locks, outer before inner:
 *
 *   vcx_qp.mutex		the state of a QP; held over its commands
 *   vcx_cq.resize_lock		the buffer that takes another's place; held
 *				over the command
 *   vcx_cq.lock		consumer side of a completion queue, and the
 *				consumer side of the queues that complete into
 *				it; of two CQs the one with the lower number
 *				first
 *   vcx_sq.lock, vcx_rq.lock	producer side of one queue
 *
 *   vcx_irq.lock		the event queues on a vector; held while their
 *				events, and so completion handlers, run
 *   lock of vcx_eq.cqs, vcx_dev.qps  number -> object; only for a lookup that
 *				takes a reference
 *
 *   vcx_cmdq.lock		slots of the command queue; innermost
 *
 * Interrupt context takes vcx_irq.lock, the xarray locks and vcx_cmdq.lock, and
 * a completion handler may poll (vcx_cq.lock) and post (vcx_sq.lock,
 * vcx_rq.lock): all of them are taken with interrupts off.
 */
#ifndef VCX_H
#define VCX_H

#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <vcx/context.h>
#include <vcx/cqe.h>
#include <vcx/eqe.h>
#include <vcx/regs.h>
#include <vcx/wqe.h>

#include "cmd.h"
#include "compat.h"
#include "fw.h"

#define VCX_PORT		1	/* the only one */

/* ---- Memory that the device works on ------------------------------------- */

/* A kernel buffer in pages that need not be contiguous. */
struct vcx_buf {
	struct device *dma_dev;
	void **page;		/* kernel address of each page */
	u64 *addr;		/* DMA address of each page */
	u32 num_pages;
};

int vcx_buf_alloc(struct vcx_dev *dev, struct vcx_buf *buf, size_t bytes);
void vcx_buf_free(struct vcx_buf *buf);
struct vcx_page_list vcx_buf_pages(const struct vcx_buf *buf);

/* What lies at an offset; nothing that is used crosses a page. */
static inline void *vcx_buf_at(const struct vcx_buf *buf, u32 offset)
{
	return buf->page[offset >> PAGE_SHIFT] + (offset & ~PAGE_MASK);
}

/* A doorbell record of the kernel: two words, see <vcx/regs.h>. */
struct vcx_dbrec {
	__be32 *word;
	dma_addr_t addr;
};

int vcx_dbrec_alloc(struct vcx_dev *dev, struct vcx_dbrec *rec);
void vcx_dbrec_free(struct vcx_dev *dev, struct vcx_dbrec *rec);

/* A queue buffer in user memory. */
struct vcx_user_buf {
	struct ib_umem *umem;
	struct vcx_page_list pages;	/* owns pages.addr */
};

int vcx_user_buf_get(struct vcx_dev *dev, u64 start, size_t bytes,
		     struct vcx_user_buf *buf);
void vcx_user_buf_put(struct vcx_user_buf *buf);
int vcx_umem_page_list(struct ib_umem *umem, unsigned long page_bytes,
		       struct vcx_page_list *pages);

/* A page of user memory that holds doorbell records, shared by objects. */
struct vcx_user_db_page {
	struct list_head entry;
	struct ib_umem *umem;
	unsigned long start;
	unsigned int users;
};

/* ---- User contexts and doorbell pages -------------------------------------- */

struct vcx_uar {
	u32 index;
	void __iomem *map;	/* only of the kernel's own page */
};

struct vcx_ucontext {
	struct ib_ucontext ibucontext;
	struct vcx_uar uar;
	struct rdma_user_mmap_entry uar_mmap;
	struct mutex db_lock;		/* db_pages */
	struct list_head db_pages;
};

struct vcx_user_db_page *vcx_user_db_get(struct vcx_ucontext *uctx, u64 start,
					 dma_addr_t *addr);
void vcx_user_db_put(struct vcx_ucontext *uctx, struct vcx_user_db_page *page);

int vcx_kernel_uar_init(struct vcx_dev *dev);
void vcx_kernel_uar_fini(struct vcx_dev *dev);
int vcx_alloc_ucontext(struct ib_ucontext *ibucontext, struct ib_udata *udata);
void vcx_dealloc_ucontext(struct ib_ucontext *ibucontext);
void vcx_disassociate_ucontext(struct ib_ucontext *ibucontext);
int vcx_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma);

/*
 * One 64-bit store, so that the doorbells of two CPUs cannot mix. What the
 * device reads when it is rung must be in memory: callers have a wmb().
 */
static inline void vcx_ring64(struct vcx_uar *uar, u32 offset, __be64 value)
{
	__raw_writeq((__force u64)value, uar->map + offset);
}

/* ---- Event queues ------------------------------------------------------------ */

struct vcx_eq {
	struct vcx_dev *dev;
	struct vcx_irq *irq;
	struct list_head entry;		/* in vcx_irq.eqs */
	void (*handle)(struct vcx_eq *eq, const struct vcx_eqe *eqe);
	struct vcx_buf buf;
	struct xarray cqs;		/* completion EQs: number -> vcx_cq */
	u32 num_entries;
	u32 ci;				/* of the handler only, not masked */
	u32 eqn;
};

struct vcx_irq {
	struct vcx_dev *dev;
	int irq;
	char name[40];
	spinlock_t lock;		/* eqs, and the handlers that run */
	struct list_head eqs;
	struct vcx_eq *async;		/* handled in the interrupt's thread */
};

int vcx_irqs_init(struct vcx_dev *dev);
void vcx_irqs_fini(struct vcx_dev *dev);
int vcx_eqs_init(struct vcx_dev *dev);
void vcx_eqs_fini(struct vcx_dev *dev);
const struct cpumask *vcx_get_vector_affinity(struct ib_device *ibdev,
					      int comp_vector);

/* ---- Verbs objects -------------------------------------------------------------- */

struct vcx_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

struct vcx_ah {
	struct ib_ah ibah;
	struct vcx_wqe_datagram av;	/* but for Q_Key and QPN */
	u8 static_rate;
};

struct vcx_mr {
	struct ib_mr ibmr;
	struct ib_umem *umem;		/* NULL: physical addresses */
	u32 index;			/* of the memory key */
	int access;
};

struct vcx_cq {
	struct ib_cq ibcq;
	struct vcx_eq *eq;
	u32 cqn;
	u8 log_cqes;			/* kernel: changes under the lock */
	u16 moderation_count;
	u16 moderation_usecs;

	spinlock_t lock;		/* everything down to the blank line */
	u32 ci;				/* not masked */
	u32 arm_sn;			/* completion events seen */
	struct list_head send_qps;	/* kernel QPs that complete here */
	struct list_head recv_qps;
	struct vcx_buf buf;		/* kernel */
	bool resizing;			/* kernel: the next buffer is there */
	u8 next_log_cqes;

	struct mutex resize_lock;	/* user_buf, next_buf */
	struct vcx_buf next_buf;	/* kernel; after a resize the old one */
	struct vcx_dbrec dbrec;
	struct vcx_user_buf user_buf;	/* user */
	struct vcx_user_db_page *db_page;

	refcount_t refs;		/* event handlers in flight, and one */
	struct completion released;
};

/* What the driver remembers of a posted send WQE, by its first block. */
struct vcx_send_wqe {
	u64 wr_id;
	u16 num_bbs;
};

struct vcx_sq {
	spinlock_t lock;		/* pi, buffer, wqe[] */
	struct vcx_send_wqe *wqe;	/* num_bbs of them */
	u32 offset;			/* in the QP's buffer */
	u32 num_bbs;			/* a power of two, 64 bytes each */
	u32 max_wqe_bbs;
	u32 max_sges;
	u32 max_inline;
	u32 pi;				/* blocks, not masked */
	u32 ci;				/* written under the CQ's lock */
};

struct vcx_rq {
	spinlock_t lock;		/* pi, buffer, wr_id[] */
	u64 *wr_id;
	u32 num_wqes;			/* a power of two, or 0 */
	u8 log_stride;
	u32 max_sges;
	u32 pi;
	u32 ci;				/* written under the CQ's lock */
};

struct vcx_qp {
	struct ib_qp ibqp;
	struct mutex mutex;		/* state and attr */
	enum ib_qp_state state;		/* read without the mutex by posts */
	struct ib_qp_attr attr;		/* as far as set by modify */
	struct ib_qp_cap cap;
	bool sig_all;
	u32 qpn;
	u32 uar_index;
	dma_addr_t dbrec_addr;

	struct vcx_sq sq;		/* kernel */
	struct vcx_rq rq;
	struct vcx_buf buf;
	struct vcx_dbrec dbrec;
	struct list_head send_entry;	/* in the CQs, under their locks */
	struct list_head recv_entry;

	struct vcx_user_buf user_buf;	/* user */
	struct vcx_user_db_page *db_page;

	refcount_t refs;
	struct completion released;
};

/* ---- The device --------------------------------------------------------------------- */

struct vcx_health {
	struct timer_list timer;
	struct work_struct fatal_work;
	struct work_struct flush_work;
	const char *reason;
	u32 last_counter;
	unsigned int misses;
};

struct vcx_dev {
	struct ib_device ibdev;
	struct pci_dev *pdev;
	struct vcx_init_seg __iomem *seg;
	struct vcx_caps caps;
	bool dead;			/* set once; see health.c */
	bool ib_registered;		/* verbs objects may exist */
	bool ib_events;			/* events may go to their users */
	struct vcx_cmdq cmdq;
	struct vcx_health health;
	struct dma_pool *dbrec_pool;

	struct xarray pages;		/* given to the device: pfn -> page */

	struct vcx_uar uar;
	unsigned int num_irqs;
	struct vcx_irq *irqs;
	struct vcx_eq cmd_eq;
	struct vcx_eq async_eq;
	unsigned int num_comp_eqs;
	struct vcx_eq *comp_eqs;

	struct xarray qps;		/* number -> vcx_qp */
	atomic_t mkey_variant;
	u64 system_guid;
	u8 counter_set;
	bool has_counter_set;
};

static inline struct vcx_dev *to_vcx_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vcx_dev, ibdev);
}

static inline struct vcx_ucontext *to_vcx_ucontext(struct ib_ucontext *ctx)
{
	return container_of(ctx, struct vcx_ucontext, ibucontext);
}

static inline struct vcx_pd *to_vcx_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct vcx_pd, ibpd);
}

static inline struct vcx_ah *to_vcx_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct vcx_ah, ibah);
}

static inline struct vcx_mr *to_vcx_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct vcx_mr, ibmr);
}

static inline struct vcx_cq *to_vcx_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct vcx_cq, ibcq);
}

static inline struct vcx_qp *to_vcx_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct vcx_qp, ibqp);
}

/* A device that failed or vanished: nothing reaches it, and it no memory. */
static inline bool vcx_dev_is_dead(const struct vcx_dev *dev)
{
	return READ_ONCE(dev->dead);
}

/*
 * The result of destroying an object. A dead device has forgotten it, or is kept
 * from using it: its DMA is off when this returns, so that the memory can be
 * freed like after a success.
 */
static inline int vcx_destroy_result(const struct vcx_dev *dev, int err)
{
	if (!err || !vcx_dev_is_dead(dev))
		return err;
	/* The work that follows a failure may not have come to it yet. */
	pci_clear_master(dev->pdev);
	return 0;
}

/* Whether events may be passed to the verbs core; pairs with device.c. */
static inline bool vcx_may_dispatch(const struct vcx_dev *dev)
{
	/* After the registration that it announces. */
	return smp_load_acquire(&dev->ib_events);
}

/* device.c */
int vcx_ib_register(struct vcx_dev *dev);
void vcx_ib_unregister(struct vcx_dev *dev);

/* health.c */
void vcx_health_init(struct vcx_dev *dev);
void vcx_health_start(struct vcx_dev *dev);
void vcx_health_stop(struct vcx_dev *dev);
void vcx_dev_fail(struct vcx_dev *dev, const char *reason);
#define VCX_GONE	"its registers are gone"
bool vcx_dev_is_gone(struct vcx_dev *dev);
void vcx_flush_kick(struct vcx_dev *dev);

/* pages.c */
int vcx_pages_supply(struct vcx_dev *dev, enum vcx_pages_stage stage);
void vcx_pages_request(struct vcx_dev *dev, s32 num_pages);
void vcx_pages_reclaim(struct vcx_dev *dev);

/* gid.c */
int vcx_query_port(struct ib_device *ibdev, u32 port,
		   struct ib_port_attr *attr);
int vcx_query_gid(struct ib_device *ibdev, u32 port, int index,
		  union ib_gid *gid);
int vcx_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int vcx_get_port_immutable(struct ib_device *ibdev, u32 port,
			   struct ib_port_immutable *immutable);

/* pd.c */
int vcx_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int vcx_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* ah.c */
int vcx_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int vcx_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vcx_destroy_ah(struct ib_ah *ibah, u32 flags);

/* mr.c */
struct ib_mr *vcx_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *vcx_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
			      u64 virt_addr, int access,
			      struct ib_udata *udata);
struct ib_mr *vcx_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				u64 length, u64 virt_addr, int access,
				struct ib_pd *ibpd, struct ib_udata *udata);
int vcx_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* cq.c */
#define VCX_MAX_CQ_COUNT	0xffff	/* moderation, fields of the context */
#define VCX_MAX_CQ_USECS	0xfff

int vcx_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct vcx_cq_attrs *attrs);
int vcx_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int vcx_modify_cq(struct ib_cq *ibcq, u16 count, u16 usecs);
void vcx_cq_completion(struct vcx_eq *eq, u32 cqn);
void vcx_cq_error(struct vcx_dev *dev, u32 cqn, u8 syndrome);
void vcx_cqs_lock(struct vcx_cq *a, struct vcx_cq *b, unsigned long *flags);
void vcx_cqs_unlock(struct vcx_cq *a, struct vcx_cq *b, unsigned long flags);
void vcx_cqs_kick(struct vcx_dev *dev);

void vcx_cq_clear(struct vcx_buf *buf, u8 log_cqes);
bool vcx_log_cqes_ok(struct vcx_dev *dev, u32 log_cqes, u32 cqes);

static inline bool vcx_cq_is_user(const struct vcx_cq *cq)
{
	return cq->ibcq.uobject;
}

/* cq_resize.c */
int vcx_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
bool vcx_cq_follow_resize(struct vcx_cq *cq);

/* cq_poll.c */
struct vcx_cqe *vcx_cq_written(struct vcx_cq *cq, u32 counter);
void vcx_cq_publish_ci(struct vcx_cq *cq);
int vcx_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int vcx_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void vcx_cq_discard(struct vcx_cq *cq, u32 qpn);

/* qp.c */
int vcx_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int vcx_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int vcx_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);
int vcx_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
void vcx_qp_event(struct vcx_dev *dev, u8 type, u32 qpn);

/* qp_ring.c */
int vcx_kernel_rings_init(struct vcx_dev *dev, struct vcx_qp *qp,
			  struct ib_qp_cap *cap);
void vcx_kernel_rings_fini(struct vcx_dev *dev, struct vcx_qp *qp);
void vcx_kernel_rings_attach(struct vcx_qp *qp);
void vcx_kernel_rings_detach(struct vcx_qp *qp);
void vcx_kernel_rings_reset(struct vcx_qp *qp);

/* wr.c */
int vcx_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);
int vcx_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);

/* counters.c */
void vcx_counters_init(struct vcx_dev *dev);
void vcx_counters_fini(struct vcx_dev *dev);
struct rdma_hw_stats *vcx_alloc_hw_port_stats(struct ib_device *ibdev,
					      u32 port);
int vcx_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index);

/* restrack.c */
int vcx_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int vcx_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int vcx_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* VCX_H */
